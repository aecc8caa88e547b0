import { z } from 'zod/v4';
import { choice, email, optional, pointInTime, text } from './fields.ts';
import { aboutLinks, links, missingLinks } from './links.ts';
import { sharedFields, systemFields } from './record.ts';
import { defineResource } from './resource.ts';

const participant = z.strictObject({
	name: text({
		title: 'Name',
		description: 'Name of the person.',
		examples: ['Ana Moreno'],
	}),
	email: email({
		title: 'Email',
		description: 'E-mail address of the person.',
		examples: ['ana.moreno@altamira.example'],
	}),
});

export const activities = defineResource({
	name: 'activities',
	object: 'activity',
	idPrefix: 'act',
	description: 'What happened with records: calls, meetings, visits.',
	visibility: { owner: 'owner_id' },
	fields: {
		type: z
			.enum(['call', 'meeting', 'email', 'visit', 'demo', 'sms', 'system', 'custom'])
			.meta({ title: 'Type', description: 'What it was.', examples: ['call'] }),
		subject: text({
			title: 'Subject',
			description: 'What it was about, in a few words.',
			examples: ['Questions about the offer'],
		}),
		body: text(
			{
				title: 'Body',
				description: 'What was said or done.',
				examples: ['Delivery in May is fine; price still open.'],
			},
			65_536,
		),
		occurred_at: pointInTime.meta({
			title: 'Occurred At',
			description: 'When it happened.',
			examples: ['2025-03-01T09:30:00.000Z'],
		}),
		duration_seconds: optional(z.int().min(0), {
			title: 'Duration',
			description: 'How long it took, in seconds.',
			examples: [900],
		}),
		direction: choice(['inbound', 'outbound'], {
			title: 'Direction',
			description: 'Who began: they (inbound) or you (outbound).',
			examples: ['outbound'],
		}),
		outcome: choice(['completed', 'no_answer', 'left_voicemail', 'busy', 'cancelled', 'no_show'], {
			title: 'Outcome',
			description: 'What came of it.',
			examples: ['completed'],
		}),
		location: text({
			title: 'Location',
			description: 'Where it took place.',
			examples: ['Madrid'],
		}),
		participants: z.array(participant).max(100).default([]).meta({
			title: 'Participants',
			description: 'Who took part.',
		}),
		links: links.default([]).meta(aboutLinks),
		...sharedFields,
		...systemFields('activity'),
	},
	important: [
		'type',
		'subject',
		'body',
		'occurred_at',
		'duration_seconds',
		'outcome',
		'owner_id',
		'links',
	],
	unique: { external_id: ['external_id'] },
	sortable: ['occurred_at', 'duration_seconds'],
	searched: ['subject', 'body', 'location', 'external_id'],
	lookups: [],

	check: (activity, previous, context) => missingLinks(activity.links, previous?.links, context),
});
