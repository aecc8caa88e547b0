import { z } from 'zod/v4';
import { about, choiceOr, reference } from './fields.ts';
import { linksMetadata, links, missingLinks } from './links.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';
import { defineResource } from './resource.ts';

const maxBodyLength = 64 * 1024;

// A note has an author instead of an owner.
const { owner_id: _, ...shared } = sharedFields;

export const notes = defineResource({
	name: 'notes',
	object: 'note',
	idPrefix: 'not',
	description: 'Notes about records.',
	visibility: { owner: 'author_id' },
	fields: {
		body: z.string().min(1).max(maxBodyLength)
			.refine((body) => Buffer.byteLength(body) <= maxBodyLength, {
				message: 'It must not be longer than 64 KiB (65,536 bytes).',
			})
			.meta(about('Text of the note; at most 64 KiB.', 'Wants an offer before the end of the quarter.')),
		body_format: choiceOr('plain', ['plain', 'markdown', 'html'], about('Format of the body.', 'plain')),
		pinned: z.boolean().default(false).meta(about('Whether the note is shown above the others.', false)),
		author_id: reference('users', about('The user who wrote the note.', exampleId('usr'))),
		links: links.min(1).meta(linksMetadata),
		...shared,
		...systemFields('note'),
	},
	important: ['body', 'pinned', 'author_id', 'links'],
	unique: { external_id: ['external_id'] },
	sortable: [],
	searched: ['body', 'external_id'],
	lookups: ['author_id'],

	check: (note, previous, context) => missingLinks(note.links, previous?.links, context),
});
