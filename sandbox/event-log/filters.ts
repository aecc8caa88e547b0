import { z } from 'zod/v4';
import { type Filter, valueFilters } from '../queries/filters.ts';
import { pointInTime } from '../schemas/fields.ts';

/** What narrows the log down, beside the type. */
export const eventFilters: readonly Filter[] = [
	...valueFilters('sequence', 'sequence', z.int().min(0).meta({ title: 'Sequence' })),
	...valueFilters('created_at', 'created_at', pointInTime.meta({ title: 'The time of the event' })),
];

/** The orders it can be read in, oldest first or newest first. */
export const eventSorts = ['sequence', '-sequence'];
