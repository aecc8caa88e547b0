import { activities } from './activities.ts';
import { companies } from './companies.ts';
import { contacts } from './contacts.ts';
import { deals } from './deals.ts';
import { messages } from './messages.ts';
import { notes } from './notes.ts';
import { pipelines } from './pipelines.ts';
import type { Resource } from './resource.ts';
import { tags } from './tags.ts';
import { tasks } from './tasks.ts';
import { tickets } from './tickets.ts';
import { users } from './users.ts';

/** The resources with a collection, except those that define custom fields and objects. */
export const standardResources: readonly Resource[] = [
	contacts,
	companies,
	deals,
	pipelines,
	tickets,
	messages,
	tasks,
	notes,
	activities,
	users,
	tags,
];
