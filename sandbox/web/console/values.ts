import { html } from 'hono/html';
import { isObject, memberNamed } from '../../core/foundation/json.ts';
import type { Service } from '../../core/service.ts';
import type { Html } from '../pages/page.ts';
import { type JsonSchema, typesOf } from '../../core/schemas/json-schema.ts';
import { users } from '../../core/schemas/users.ts';
import type { Actor } from '../../core/schemas/origin.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import { recordsPath } from '../sign-in/navigation.ts';
import { capital, namesOf } from '../../core/schemas/names.ts';
import { customObjects, objectKeyOf, recordsName } from '../../core/schemas/custom-objects.ts';
import type { Resource, StoredRecord } from '../../core/schemas/resource.ts';
import { equals } from '../../core/store/records/condition.ts';

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

const instantFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** An instant, in UTC as all times in the console. */
export const timeOf = (at: string | number): Html => {
	const date = new Date(at);
	return html`<time datetime="${date.toISOString()}">${instantFormat.format(date)} <abbr>UTC</abbr></time>`;
};

/** Whether a field has nothing to show. */
export const isEmptyValue = (value: unknown): boolean =>
	value === null ||
	value === undefined || value === '' || (typeof value === 'object' && Object.values(value).every(isEmptyValue));

/** The value of a field, for people. */
export function shownValue(store: StoreView, schema: JsonSchema, value: unknown): Html {
	if (isEmptyValue(value)) return html`<span class="quiet">–</span>`;
	if (Array.isArray(value)) {
		const items = value.map((item) => shownValue(store, itemSchema(schema), item));
		return html`<ul class="values">${items.map((item) => html`<li>${item}</li>`)}</ul>`;
	}
	if (isObject(value)) return shownObject(store, schema, value);
	const text = String(value);
	if (typeof schema['x-resource'] === 'string') return linkToRecord(store, schema['x-resource'], text);
	if (typeof schema['x-item-of'] === 'string') {
		return html`${itemTitles(store, schema['x-item-of']).get(text) ?? text}`;
	}
	const label = memberNamed(schema['x-enum-labels'] as Record<string, string> | undefined, text);
	if (label !== undefined) return html`<span class="badge ${toneOf(text)}">${label}</span>`;
	if (schema.format === 'date-time' && !Number.isNaN(Date.parse(text))) return timeOf(text);
	if (schema.format === 'email') return html`<a href="mailto:${text}">${text}</a>`;
	if (schema.format === 'uri' && /^https?:\/\//i.test(text)) return html`<a href="${text}" rel="noreferrer">${text}</a>`;
	if (typeof value === 'boolean') return html`${value ? 'Yes' : 'No'}`;
	if (typeof value === 'number') return html`${value.toLocaleString('en-GB')}`;
	return html`<span class="text">${text}</span>`;
}

/** The schema of a list's items, which refer to the same records as the list. */
const itemSchema = (schema: JsonSchema): JsonSchema => ({
	...schema.items,
	...('x-resource' in schema && { 'x-resource': schema['x-resource'] }),
});

function shownObject(store: StoreView, schema: JsonSchema, value: Record<string, unknown>): Html {
	const { resource, id } = value;
	if (typeof resource === 'string' && typeof id === 'string') return linkToRecord(store, resource, id);
	const { name } = value;
	const isNamed = typeof name === 'string' && typeof id === 'string';
	const others = Object.entries(value).filter(([, member]) => !isEmptyValue(member));
	const members = isNamed ? others.filter(([member]) => !['id', 'name', 'position'].includes(member)) : others;
	return html`${isNamed ? html`<strong>${name}</strong> <code>${id}</code>` : ''}<dl class="members">
		${members.map(([name, member]) => {
			const memberSchema = memberNamed(schema.properties, name) ?? {};
			return html`<div>
				<dt>${memberSchema.title ?? name}</dt>
				<dd>${shownValue(store, memberSchema, member)}</dd>
			</div>`;
		})}
	</dl>`;
}

/** Choices that are good or bad news wherever they occur. */
const tones: Record<string, string> = {
	...Object.fromEntries(
		['won', 'solved', 'completed', 'active', 'customer', 'delivered', 'read', 'succeeded', 'sent'].map(
			(choice) => [choice, 'is-good'],
		),
	),
	...Object.fromEntries(
		['lost', 'failed', 'urgent', 'disabled', 'deactivated', 'canceled'].map((choice) => [choice, 'is-bad']),
	),
};

export const toneOf = (choice: string): string => memberNamed(tones, choice) ?? '';

/** Who did something: a user, an API key or the service. */
export function actorOf({ store }: Service, visibleStore: StoreView, { type, id }: Actor): Html {
	if (type === 'user') return linkToRecord(visibleStore, users.name, id);
	if (type !== 'api_key') return html`the service (${id})`;
	// Only administrators see the names of keys, as in the settings.
	const key = visibleStore === store ? store.apiKeys.list().find((apiKey) => apiKey.id === id) : undefined;
	return key ? html`${key.name} <small>(API key)</small>` : html`<code>${id}</code>`;
}

/** Whether values of a field are texts too long for one line. */
export const isLongText = (schema: JsonSchema): boolean =>
	typesOf(schema).includes('string') && Number(schema['maxLength'] ?? 0) > 300;
