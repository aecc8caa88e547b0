import type { IExecuteFunctions } from 'n8n-workflow';

import type { Field } from '../api/openapi/fields';
import type { ListDescription } from '../api/openapi/listing';
import type { Query } from '../api/http/path';
import { apiValue } from '../mapping/values';

export type ChangedSince = 'ever' | 'lastRun' | 'moment';

/**
 * How the list is asked for changes.
 *
 * @param filters the user's own
 * @throws Error in the user's words where it cannot be asked, or is by a filter already
 */
export function changedIn(
	list: ListDescription,
	filters: Query,
): NonNullable<ListDescription['changed']> {
	const { changed } = list;
	if (!changed) {
		throw new Error(
			'Changed Since: the service does not list records by when they were changed. Choose Ever, and filter what you need.',
		);
	}
	if (filters[changed.since] === undefined) return changed;
	const label = list.filters.find(({ name }) => name === changed.since)?.label ?? changed.since;
	throw new Error(
		`Changed Since goes without the filter ${label}, which says the same. Remove the filter, or set Changed Since to Ever.`,
	);
}

/** @throws Error in the user's words where the list cannot be asked for deleted records */
export function deletedIn({ deleted }: ListDescription): NonNullable<ListDescription['deleted']> {
	if (deleted) return deleted;
	throw new Error('Include Deleted: the service does not list deleted records. Turn it off.');
}

const momentField: Field = {
	name: 'moment',
	path: ['moment'],
	label: 'Moment',
	description: '',
	kind: 'dateTime',
	required: true,
};

/**
 * The moment the user has given, as the service takes it.
 *
 * @throws Error in the user's words where there is none
 */
export function momentOf(n8n: IExecuteFunctions, item: number): string {
	const given: unknown = n8n.getNodeParameter('moment', item, '');
	const value = apiValue(momentField, given, n8n.getTimezone());
	if (typeof value === 'string') return value;
	throw new Error('Moment: it is empty. Give the moment from which on changes are wanted.');
}
