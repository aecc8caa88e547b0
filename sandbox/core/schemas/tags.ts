import { z } from 'zod/v4';
import { about, optional, readOnly, requiredText, text } from './fields.ts';
import { systemFields } from './record.ts';
import { defineResource, type Resource } from './resource.ts';

const color = z.string().toLowerCase().regex(/^#[0-9a-f]{6}$/, {
	message: 'Write a color as a number sign and six hexadecimal digits, such as #2f80ed.',
});

export const tags = defineResource({
	name: 'tags',
	object: 'tag',
	idPrefix: 'tag',
	description: 'Labels for records of any kind.',
	visibility: 'everyone',
	fields: {
		name: requiredText(100).meta(about('Label shown to people; unique.', 'Early Adopter')),
		color: optional(color, about('Color of the label, as #rrggbb.', '#2f80ed')),
		description: text(about('Purpose of the tag.', 'Likes to try new features.'), 1000),
		usage: z.int().min(0).meta(readOnly('Number of records with the tag. A new count does not change the version of the tag.', 12)),
		...systemFields('tag'),
	},
	important: ['name', 'color', 'description'],
	unique: { name: ['name'] },
	sortable: ['name', 'usage'],
	searched: ['name', 'description'],
	lookups: [],

	complete: (tag) => ({ usage: tag.usage ?? 0 }),

	usedBy(tag) {
		if (tag.usage === 0) return undefined;
		return `${tag.usage} ${tag.usage === 1 ? 'record has' : 'records have'} this tag`;
	},
});

export const hasTags = (resource: Resource): boolean => 'tag_ids' in resource.properties;
