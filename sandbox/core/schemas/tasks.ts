import { z } from 'zod/v4';
import { choice, choiceOr, instant, reference, requiredText, text } from './fields.ts';
import { linksMetadata, links, missingLinks } from './links.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';
import { defineResource, entersStatus } from './resource.ts';

export const tasks = defineResource({
	name: 'tasks',
	object: 'task',
	idPrefix: 'tas',
	description: 'Things to do.',
	visibility: { owner: 'owner_id' },
	fields: {
		title: requiredText(255).meta({
			title: 'Title',
			description: 'Short summary of the task.',
			examples: ['Call back about the offer'],
		}),
		description: text(
			{ title: 'Description', description: 'Details of the task.', examples: ['Best reached in the morning.'] },
			65_536,
		),
		type: choice(['to_do', 'call', 'email', 'meeting', 'follow_up'], {
			title: 'Type',
			description: 'Kind of work.',
			examples: ['call'],
		}),
		status: choiceOr(
			'not_started',
			['not_started', 'in_progress', 'waiting', 'deferred', 'completed'],
			{ title: 'Status', description: 'Status of the task.', examples: ['not_started'] },
		),
		priority: choiceOr('normal', ['low', 'normal', 'high'], {
			title: 'Priority',
			description: 'Importance of the task.',
			examples: ['high'],
		}),
		due_at: instant({ title: 'Due At', description: 'Time the task is due.', examples: ['2025-03-04T16:00:00.000Z'] }),
		all_day: z.boolean().default(false).meta({
			title: 'All Day',
			description: 'Whether the task is due on a day, not at a time of day.',
			examples: [false],
		}),
		remind_at: instant({ title: 'Remind At', description: 'Time to remind the assignee.', examples: ['2025-03-04T09:00:00.000Z'] }),
		assignee_id: reference('users', {
			title: 'Assignee',
			description: 'The user responsible for the task.',
			examples: [exampleId('usr')],
		}),
		completed_at: instant({ title: 'Completed At', description: 'Time of completion.', readOnly: true }),
		links: links.default([]).meta(linksMetadata),
		...sharedFields,
		...systemFields('task'),
	},
	important: ['title', 'description', 'status', 'priority', 'due_at', 'assignee_id', 'links'],
	unique: { external_id: ['external_id'] },
	sortable: ['title', 'due_at', 'completed_at'],
	searched: ['title', 'description', 'external_id'],
	lookups: ['assignee_id'],

	events: { completed: entersStatus('completed', 'A task was completed.') },

	complete: (task, previous, { at }) => ({ completed_at: task.status === 'completed' ? (previous?.completed_at ?? at) : null }),

	check: (task, previous, context) => missingLinks(task.links, previous?.links, context),
});
