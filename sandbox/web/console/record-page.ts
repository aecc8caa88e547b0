import { html } from 'hono/html';
import { memberNamed } from '../../core/foundation/json.ts';
import type { Service } from '../../core/service.ts';
import { recordsPath } from '../sign-in/navigation.ts';
import type { Html } from '../pages/page.ts';
import { actionInput, hasCustomFields, type Resource, type StoredRecord } from '../../core/schemas/resource.ts';
import { customFields } from '../../core/schemas/custom-fields.ts';
import { customObjects, recordsName } from '../../core/schemas/custom-objects.ts';
import { resources } from '../../core/schemas/index.ts';
import type { JsonSchema } from '../../core/schemas/json-schema.ts';
import { deliveryStatuses, webhooks } from '../../core/schemas/webhooks.ts';
import { filterCondition, filtersOf } from '../../domain/queries/filters.ts';
import { parseRecord } from '../../core/store/records/record-json.ts';
import { customFieldsOf } from '../../core/store/records/custom-fields-of.ts';
import { actionFields, customFieldSchema, newestFirst } from './form-fields.ts';
import { formTexts } from './form-values.ts';
import { formInput } from './widgets.ts';
import { deliveryLine, recentEventList } from './events-page.ts';
import { objectOf, recordLink, recordPath, resourceLabels, titleField, titleOf, isEmptyValue, shownValue, timeOf } from './values.ts';
import { may, type Visitor } from './visitor.ts';

/** Fields that are shown at the end or not at all, because people rarely need them. */
const technical = ['object', 'version', 'created_by', 'updated_by', 'created_at', 'updated_at', 'deleted_at'];

/** A record: its fields, actions, related records and events. */
export function recordBody(
	service: Service,
	visitor: Visitor,
	resource: Resource,
	record: StoredRecord,
	notice: Html | '' = '',
): Html {
	const { plural } = resourceLabels(visitor.store, resource);
	const object = resource.name === customFields.name ? objectOf(visitor.store, String(record['resource'])) : undefined;
	return html`<p class="quiet">
			<a href="${recordsPath(resource.name)}">${plural}</a>
			${object ? html`of ${recordLink(customObjects, object)}` : ''}
		</p>
		<div class="row apart">
			<h1>${titleOf(resource, record)}</h1>
			${actions(visitor, resource, record)}
		</div>
		${notice}
		<div class="columns">
			<section class="card" aria-label="Fields">
				${fieldList(visitor, resource, record)}
				<details class="more">
					<summary>As the API returns it</summary>
					<pre tabindex="0">${JSON.stringify(record, null, 2)}</pre>
				</details>
			</section>
			<div>
				${related(visitor, resource, record)}
				${resource.name === webhooks.name ? deliveries(service, visitor, record) : ''}
				<section aria-labelledby="recent">
					<h2 id="recent">Recent events</h2>
					${recentEventList(service, visitor, { resource, record })}
				</section>
			</div>
		</div>`;
}

/** The fields that have a value; those that people use first are at the top. */
function fieldList({ store }: Visitor, resource: Resource, record: StoredRecord): Html {
	const { properties, important } = resource;
	const others = Object.keys(properties).filter((name) => ![...important, ...technical, 'custom_fields', 'id'].includes(name));
	const line = (schema: JsonSchema, value: unknown) =>
		html`<div><dt>${schema.title}</dt><dd>${shownValue(store, schema, value)}</dd></div>`;
	const custom = (record['custom_fields'] ?? {}) as Record<string, unknown>;
	const definitions = hasCustomFields(resource) ? [...customFieldsOf(store, resource.name).values()] : [];
	return html`<dl class="record">
		${important.filter((name) => name !== titleField(resource) && name !== 'custom_fields')
			.map((name) => line(properties[name]!, record[name]))}
		${definitions.filter(({ key }) => !isEmptyValue(memberNamed(custom, key)))
			.map((field) => line(customFieldSchema(field), memberNamed(custom, field.key)))}
		${others.filter((name) => !isEmptyValue(record[name])).map((name) => line(properties[name]!, record[name]))}
		<div>
			<dt>ID</dt>
			<dd><code>${record.id}</code>, version ${record.version}</dd>
		</div>
		<div><dt>Created</dt><dd>${timeOf(record.created_at)}</dd></div>
		<div><dt>Last changed</dt><dd>${timeOf(record.updated_at)}</dd></div>
	</dl>`;
}

function actions(visitor: Visitor, resource: Resource, record: StoredRecord): Html {
	const { store } = visitor;
	const path = recordPath(resource, record);
	const version = html`<input type="hidden" name="version" value="${record.version}" />`;
	const possible = Object.entries(may(visitor, 'change', resource) ? (resource.actions ?? {}) : {});
	const offered = possible.filter(([, action]) => action.isPossible?.(record) ?? true).map(([name, action]) => ({
		name,
		summary: action.summary,
		fields: actionFields(store, actionInput(action)),
	}));
	return html`<div class="row">
		${offered.map(({ name, summary, fields }) => {
			const state = { texts: formTexts(fields, {}), errors: new Map<string, string[]>(), isNew: true };
			const verb = summary.split(' ')[0];
			const form = html`<form method="post" action="${path}/actions/${name}">
				${version} ${fields.map((field) => formInput(state, field))}
				<button title="${summary}">${verb}</button>
			</form>`;
			return fields.length === 0
				? form
				: html`<details class="menu"><summary>${verb}…</summary>${form}</details>`;
		})}
		${may(visitor, 'change', resource) ? html`<a class="button main" href="${path}/edit">Edit</a>` : ''}
		${may(visitor, 'delete', resource)
			? html`<details class="menu">
					<summary class="danger">Delete…</summary>
					<form method="post" action="${path}/delete">
						${version}
						<p><small>${afterDeletion(resource)}</small></p>
						<button class="danger">Delete</button>
					</form>
				</details>`
			: ''}
	</div>`;
}

/** What a deletion does to the record. */
const afterDeletion = ({ insteadOfDeletion }: Resource): string =>
	insteadOfDeletion
		? `It is kept, and its ${Object.entries(insteadOfDeletion).map((change) => change.join(' becomes ')).join(', ')}.`
		: 'It disappears from all lists. The API still returns it with include_deleted.';

/** Records that hang on another one: the filter of their list that finds them, and the values of a new one. */
interface Hanging {
	other: Resource;
	parameter: string;
	value: string;
	values: Record<string, string>;
}

/** What refers to a record by a field for lookups or by a link; to a custom object, the fields of its records. */
function hangingOn({ store }: Visitor, { name }: Resource, { id, ...record }: StoredRecord): Hanging[] {
	if (name === customObjects.name) {
		const value = recordsName(String(record['key']));
		const key = String(record['primary_field']);
		// The first field gives the records their title.
		const first = customFieldsOf(store, value).has(key) ? {} : { key, type: 'text' };
		return [{ other: customFields, parameter: 'resource', value, values: { resource: value, ...first } }];
	}
	return resources.flatMap((other): Hanging[] => {
		const { properties, lookups } = other;
		const fields = lookups.filter((field) => properties[field]?.['x-resource'] === name);
		const isLinked = properties['links']?.items?.properties?.['resource']?.enum?.includes(name);
		const links = JSON.stringify([{ resource: name, id }]);
		return [
			...fields.map((field) => ({ other, parameter: field, value: id, values: { [field]: id } })),
			...(isLinked ? [{ other, parameter: 'linked_to', value: `${name}:${id}`, values: { links } }] : []),
		];
	});
}

/** What hangs on a record: how many of each type, and the newest ones. */
function related(visitor: Visitor, resource: Resource, record: StoredRecord): Html | '' {
	const rows = hangingOn(visitor, resource, record).map(({ other, parameter, value, values }) => {
		const filter = filtersOf(other).find((candidate) => candidate.parameter === parameter)!;
		const conditions = [filterCondition(filter, value, other)];
		const table = visitor.store.table(other.name)!;
		const newest = table.page({ ...newestFirst, conditions, limit: 3 }).map(parseRecord);
		const { singular, plural } = resourceLabels(visitor.store, other);
		const path = recordsPath(other.name);
		return html`<li class="row">
			<a class="grow" href="${path}?${new URLSearchParams({ [parameter]: value }).toString()}">${plural}
				<small>by ${filter.schema.title}</small></a>
			<span>${table.count(conditions)}</span>
			${may(visitor, 'create', other)
				? html`<a href="${path}/new?${new URLSearchParams(values).toString()}" aria-label="New ${singular.toLowerCase()}">New</a>`
				: ''}
			<small class="newest">${newest.map((newer, i) => html`${i > 0 ? ' · ' : ''}${recordLink(other, newer)}`)}</small>
		</li>`;
	});
	if (rows.length === 0) return '';
	return html`<section aria-labelledby="related">
		<h2 id="related">Related records</h2>
		<ul class="card related">${rows}</ul>
	</section>`;
}

function deliveries({ store }: Service, visitor: Visitor, { id }: StoredRecord): Html {
	const { deliveries: latest } = store.deliveries.list(id, deliveryStatuses, undefined, 10);
	return html`<section aria-labelledby="deliveries">
		<h2 id="deliveries">Latest deliveries</h2>
		<ol class="card events">
			${latest.length === 0 ? html`<li class="quiet">No events have been sent yet.</li>` : ''}
			${latest.map(
				(delivery) => html`<li>
					<div class="row apart">
						<strong class="event-type">${delivery.eventType}</strong>
						<small>${timeOf(delivery.createdAt)}</small>
					</div>
					${deliveryLine(visitor, delivery)}
				</li>`,
			)}
		</ol>
	</section>`;
}
