import { z } from 'zod/v4';
import { about, choice, choiceOr, instant, readOnly, reference, requiredText, text } from './fields.ts';
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
		title: requiredText(255).meta(about('Short summary of the task.', 'Call back about the offer')),
		description: text(about('Details of the task.', 'Best reached in the morning.'), 65_536),
		type: choice(['to_do', 'call', 'email', 'meeting', 'follow_up'], about('Kind of work.', 'call')),
		status: choiceOr(
			'not_started',
			['not_started', 'in_progress', 'waiting', 'deferred', 'completed'],
			about('Status of the task.', 'not_started'),
		),
		priority: choiceOr('normal', ['low', 'normal', 'high'], about('Importance of the task.', 'high')),
		due_at: instant(about('Time the task is due.', '2025-03-04T16:00:00.000Z')),
		all_day: z.boolean().default(false).meta(about('Whether the task is due on a day, not at a time of day.', false)),
		remind_at: instant(about('Time to remind the assignee.', '2025-03-04T09:00:00.000Z')),
		assignee_id: reference('users', about('The user responsible for the task.', exampleId('usr'))),
		completed_at: instant(readOnly('Time of completion.')),
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
