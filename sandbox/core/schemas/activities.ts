import { z } from 'zod/v4';
import { about, choice, email, optional, pointInTime, text } from './fields.ts';
import { linksMetadata, links, missingLinks } from './links.ts';
import { sharedFields, systemFields } from './record.ts';
import { defineResource } from './resource.ts';

const participant = z.strictObject({
	name: text(about('Name of the person.', 'Ana Moreno')),
	email: email(about('Email address of the person.', 'ana.moreno@altamira.example')),
});

export const activities = defineResource({
	name: 'activities',
	object: 'activity',
	idPrefix: 'act',
	description: 'Calls, meetings and visits, logged on records.',
	visibility: { owner: 'owner_id' },
	fields: {
		type: z.enum(['call', 'meeting', 'email', 'visit', 'demo', 'sms', 'system', 'custom']).meta(about('Kind of activity.', 'call')),
		subject: text(about('Short summary of the activity.', 'Questions about the offer')),
		body: text(about('Details of the activity.', 'Delivery in May is fine; price still open.'), 65_536),
		occurred_at: pointInTime.meta(about('Time of the activity.', '2025-03-01T09:30:00.000Z')),
		duration_seconds: optional(z.int().min(0), about('How long the activity took.', 900, { title: 'Duration (Seconds)' })),
		direction: choice(['inbound', 'outbound'], about('Who initiated it: the other side (inbound) or you (outbound).', 'outbound')),
		outcome: choice(
			['completed', 'no_answer', 'left_voicemail', 'busy', 'cancelled', 'no_show'],
			about('Result of the activity.', 'completed'),
		),
		location: text(about('Location of the activity.', 'Madrid')),
		participants: z.array(participant).max(100).default([]).meta(about('Participants.')),
		links: links.default([]).meta(linksMetadata),
		...sharedFields,
		...systemFields('activity'),
	},
	important: ['type', 'subject', 'body', 'occurred_at', 'duration_seconds', 'outcome', 'owner_id', 'links'],
	unique: { external_id: ['external_id'] },
	sortable: ['occurred_at', 'duration_seconds'],
	searched: ['subject', 'body', 'location', 'external_id'],
	lookups: [],

	check: (activity, previous, context) => missingLinks(activity.links, previous?.links, context),
});
