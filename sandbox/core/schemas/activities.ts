import { z } from 'zod/v4';
import { choice, email, optional, pointInTime, text } from './fields.ts';
import { linksMetadata, links, missingLinks } from './links.ts';
import { sharedFields, systemFields } from './record.ts';
import { defineResource } from './resource.ts';

const participant = z.strictObject({
	name: text({ title: 'Name', description: 'Name of the person.', examples: ['Ana Moreno'] }),
	email: email({ title: 'Email', description: 'Email address of the person.', examples: ['ana.moreno@altamira.example'] }),
});

export const activities = defineResource({
	name: 'activities',
	object: 'activity',
	idPrefix: 'act',
	description: 'Calls, meetings and visits, logged on records.',
	visibility: { owner: 'owner_id' },
	fields: {
		type: z
			.enum(['call', 'meeting', 'email', 'visit', 'demo', 'sms', 'system', 'custom'])
			.meta({ title: 'Type', description: 'Kind of activity.', examples: ['call'] }),
		subject: text({ title: 'Subject', description: 'Short summary of the activity.', examples: ['Questions about the offer'] }),
		body: text(
			{ title: 'Body', description: 'Details of the activity.', examples: ['Delivery in May is fine; price still open.'] },
			65_536,
		),
		occurred_at: pointInTime.meta({
			title: 'Occurred At',
			description: 'Time of the activity.',
			examples: ['2025-03-01T09:30:00.000Z'],
		}),
		duration_seconds: optional(z.int().min(0), {
			title: 'Duration (Seconds)',
			description: 'How long the activity took.',
			examples: [900],
		}),
		direction: choice(['inbound', 'outbound'], {
			title: 'Direction',
			description: 'Who initiated it: the other side (inbound) or you (outbound).',
			examples: ['outbound'],
		}),
		outcome: choice(['completed', 'no_answer', 'left_voicemail', 'busy', 'cancelled', 'no_show'], {
			title: 'Outcome',
			description: 'Result of the activity.',
			examples: ['completed'],
		}),
		location: text({ title: 'Location', description: 'Location of the activity.', examples: ['Madrid'] }),
		participants: z.array(participant).max(100).default([]).meta({ title: 'Participants', description: 'Participants.' }),
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
