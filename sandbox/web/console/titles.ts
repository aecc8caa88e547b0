import { html } from 'hono/html';
import { recordsPath } from '../sign-in/navigation.ts';
import type { Html } from '../pages/page.ts';
import { capital, namesOf } from '../../core/schemas/names.ts';
import { customObjects, objectKeyOf, recordsName } from '../../core/schemas/custom-objects.ts';
import type { Resource, StoredRecord } from '../../core/schemas/resource.ts';
import { equals } from '../../core/store/records/condition.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';

/** The fields that can serve as the title of a record, in order of preference. */
const titleCandidates = ['name', 'title', 'label', 'label_plural', 'subject', 'url', 'body', 'text', 'operation'];

/** The title fields of a resource. The title of a record is the first one that has a value. */
const titleFields = ({ properties }: Resource): string[] => titleCandidates.filter((field) => field in properties);

/** The preferred title field; undefined if there is none. */
export const titleField = (resource: Resource): string | undefined => titleFields(resource)[0];

const maxTitleLength = 80;

/** The title of a record: its name, otherwise its id. */
export function titleOf(resource: Resource, record: Record<string, unknown>): string {
	const named = titleFields(resource).find((field) => record[field]);
	const title = String(record[named ?? 'id']);
	return title.length > maxTitleLength ? `${title.slice(0, maxTitleLength - 1)}…` : title;
}

export const recordPath = (resource: Resource, { id }: Pick<StoredRecord, 'id'>): string =>
	`${recordsPath(resource.name)}/${id}`;

export const recordLink = (resource: Resource, record: StoredRecord): Html =>
	html`<a href="${recordPath(resource, record)}">${titleOf(resource, record)}</a>`;

/** A link to a record, or its id alone if the visitor does not see it. */
export function linkToRecord(store: StoreView, resource: string, id: string): Html {
	const table = store.table(resource);
	const record = table?.find(id);
	return table && record ? recordLink(table.resource, record) : html`<code>${id}</code>`;
}

/** The custom object whose records have this path, such as `custom-objects/cars/records`. */
export function objectOf(store: StoreView, records: string): StoredRecord | undefined {
	const key = objectKeyOf(records);
	return key === undefined ? undefined : store.table(customObjects.name)!.findAll([equals('key', key)], 1)[0];
}

/** The resources of the records of all custom objects. */
export const resourcesOfObjects = (store: StoreView): Resource[] =>
	store.table(customObjects.name)!.findAll([]).map(({ key }) => store.table(recordsName(String(key)))!.resource);

/** The labels of a resource's records: `Contact` and `Contacts`. */
export function resourceLabels(store: StoreView, resource: Resource): { singular: string; plural: string } {
	const object = objectOf(store, resource.name);
	if (object) return { singular: String(object['label_singular']), plural: String(object['label_plural']) };
	const { singular, plural } = namesOf(resource);
	return { singular: capital(singular), plural: capital(plural) };
}

/**
 * The items of a list that records of a resource have, by id, as `Renewals: Proposal`. Everyone sees these
 * records.
 *
 * @param place the place of the list, such as `pipelines.stages`
 */
export function itemTitles({ unrestricted }: StoreView, place: string): ReadonlyMap<string, string> {
	const [resource = '', list = ''] = place.split('.');
	const table = unrestricted.table(resource)!;
	return table.cached(`titles of ${list}`, () => {
		const titles = table.findAll([]).flatMap((record) =>
			(record[list] as Array<{ id: string; name: string }>).map((item): [string, string] => [
				item.id,
				`${titleOf(table.resource, record)}: ${item.name}`,
			]),
		);
		return new Map(titles);
	});
}
