import { html } from 'hono/html';
import { memberNamed } from '../../core/foundation/json.ts';
import type { Service } from '../../core/service.ts';
import { recordsPath } from '../sign-in/navigation.ts';
import type { Html } from '../pages/page.ts';
import { filterFinder } from '../../domain/queries/custom-field-filters.ts';
import { listPage, maxSearchLength, parseListQuery, sortableFields } from '../../domain/queries/list-query.ts';
import type { JsonSchema } from '../../core/schemas/json-schema.ts';
import { objectKeyOf } from '../../core/schemas/custom-objects.ts';
import type { Resource, StoredRecord } from '../../core/schemas/resource.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import { parseRecord } from '../../core/store/records/record-json.ts';
import { customFieldsOf } from '../../core/store/records/custom-fields-of.ts';
import { existingTable } from '../../domain/records/write.ts';
import { customFieldSchema } from './form-fields.ts';
import { resourceLabels, recordLink, titleField, shownValue } from './values.ts';
import { may, type Visitor } from './visitor.ts';

const pageLength = '25';

/** Latest changes first, because people who try out a workflow look for them. */
const defaultSort = '-updated_at';

/** The explanation above the list of webhooks. */
const webhooksExplained = html`The service posts each event as JSON, signed with the secret that you see when you
	create the webhook. It tries again for days if the receiver does not answer. In n8n, <em>CRM Platform Trigger</em>
	creates its own webhook when a workflow is published, and deletes it afterwards: create one here for other programs.`;

/**
 * The records of a resource. The parameters of the page are those of the API.
 *
 * @throws Problem invalid_parameter, unknown_parameter, invalid_cursor
 */
export function listBody({ store: { accountKey } }: Service, visitor: Visitor, resource: Resource, url: URL): Html {
	// A field of the search form that was left empty is no condition.
	const parameters = new Map([...url.searchParams].filter(([, value]) => value.trim() !== ''));
	const listParameters = new Map([['sort', defaultSort], ['limit', pageLength], ...parameters]);
	const query = parseListQuery(resource, listParameters, filterFinder(visitor.store.unrestricted, resource), accountKey);
	const page = listPage(existingTable(visitor.store, resource.name), query, accountKey);
	const { cursor: next, total } = page;
	const data = page.data.map(parseRecord);
	const path = recordsPath(resource.name);
	const { singular, plural } = resourceLabels(visitor.store, resource);
	const urlWith = (change: Record<string, string | undefined>) => {
		const entries = Object.entries({ ...Object.fromEntries(parameters), ...change });
		const present = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
		return `${path}?${new URLSearchParams(present).toString()}`;
	};
	return html`<div class="row apart">
			<h1>${plural} <small>${total.toLocaleString('en-GB')}</small></h1>
			${may(visitor, 'create', resource)
				? html`<a class="button main" href="${path}/new">New ${singular.toLowerCase()}</a>`
				: ''}
		</div>
		<p class="quiet">${resource.description} ${resource.name === webhooks.name ? webhooksExplained : ''}</p>
		${searchForm(resource, parameters, path)}
		${data.length === 0
			? html`<p class="card quiet">No records match.</p>`
			: html`<div class="card flush" role="region" aria-label="${plural}" tabindex="0">
					${recordsTable(visitor, resource, data, listParameters.get('sort')!, urlWith)}
				</div>`}
		<p class="row">
			${parameters.has('cursor') ? html`<a class="button" href="${urlWith({ cursor: undefined })}">First page</a>` : ''}
			${next === null ? '' : html`<a class="button" href="${urlWith({ cursor: next })}">Next page</a>`}
		</p>`;
}

/** A form for the full text and for the important fields that are choices. */
function searchForm(resource: Resource, parameters: Map<string, string>, path: string): Html {
	const choices = resource.important.map((name): [string, JsonSchema] => [name, resource.properties[name]!])
		.filter(([, { enum: options }]) => options !== undefined);
	const formParameters = ['q', 'sort', 'cursor', 'limit', ...choices.map(([name]) => name)];
	const others = [...parameters].filter(([name]) => !formParameters.includes(name));
	return html`<form class="search row" role="search" method="get" action="${path}">
			<div class="grow">
				<label class="unseen" for="q">Search</label>
				<input id="q" name="q" type="search" maxlength="${maxSearchLength}"
					placeholder="Search by ${resource.searched.slice(0, 3).join(', ').replaceAll('_', ' ')}"
					value="${parameters.get('q') ?? ''}" />
			</div>
			${choices.map(([name, { title, enum: options, 'x-enum-labels': labels }]) => {
				return html`<div>
					<label class="unseen" for="filter-${name}">${title}</label>
					<select id="filter-${name}" name="${name}">
						<option value="">Any ${title?.toLowerCase()}</option>
						${options!.filter((option) => option !== null)
							.map(
								(option) => html`<option value="${option}" ${parameters.get(name) === option ? 'selected' : ''}>
									${(labels as Record<string, string>)[String(option)]}
								</option>`,
							)}
					</select>
				</div>`;
			})}
			${others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
			<button>Search</button>
			${parameters.size > 0 ? html`<a href="${path}">Clear</a>` : ''}
		</form>
		${others.map(([name, value]) => html`<p class="quiet">Only records whose <code>${name}</code> is <code>${value}</code>.</p>`)}`;
}

/** The fields in a list besides the title: those that people use first. */
function listedFields({ properties, important }: Resource, title: string | undefined): string[] {
	const parts = title === 'name' && properties['name']!.readOnly ? ['first_name', 'last_name'] : [];
	const isShort = ({ items, properties: members, maxLength }: JsonSchema) =>
		!items?.properties && !members && Number(maxLength ?? 0) <= 300;
	// A stage is listed with the name of its pipeline.
	const named = important.map((name) => String(properties[name]!['x-item-of'] ?? '').split('.')[0]);
	return important.filter((name) => name !== title && !parts.includes(name) && isShort(properties[name]!))
		.filter((name) => name !== 'custom_fields' && !named.includes(String(properties[name]!['x-resource'])))
		.slice(0, 5);
}

interface ListedColumn {
	/** The name of the field; undefined for a custom field, by which the API does not sort. */
	name?: string;
	schema: JsonSchema;
	valueIn(record: StoredRecord): unknown;
}

/** The fields of a custom object, or the important fields of another resource. */
function listedColumns({ store }: Visitor, resource: Resource, title: string | undefined): ListedColumn[] {
	const isCustom = objectKeyOf(resource.name) !== undefined;
	const fields = isCustom ? [...customFieldsOf(store, resource.name).values()] : [];
	const custom = fields.filter(({ archived_at: archivedAt }) => archivedAt === null).map((field) => ({
		schema: customFieldSchema(field),
		valueIn: (record: StoredRecord) => memberNamed(record['custom_fields'] as Record<string, unknown>, field.key),
	}));
	const names = custom.length > 0 ? ['owner_id'] : listedFields(resource, title);
	const column = (name: string): ListedColumn => ({
		name,
		schema: resource.properties[name]!,
		valueIn: (record) => record[name],
	});
	return [...custom.slice(0, 4), ...[...names, 'updated_at'].map(column)];
}

function recordsTable(
	visitor: Visitor,
	resource: Resource,
	records: StoredRecord[],
	sort: string,
	to: (change: Record<string, string | undefined>) => string,
): Html {
	const title = titleField(resource);
	const columns = listedColumns(visitor, resource, title);
	const header = ({ name = '', schema }: Pick<ListedColumn, 'name' | 'schema'>) => {
		const label = schema.title ?? 'Record';
		if (!sortableFields(resource).includes(name)) return html`<th scope="col">${label}</th>`;
		const direction = { [name]: 'ascending', [`-${name}`]: 'descending' }[sort];
		const next = sort === name ? `-${name}` : name;
		return html`<th scope="col" ${direction ? html`aria-sort="${direction}"` : ''}>
			<a href="${to({ sort: next, cursor: undefined })}">${label}</a>
		</th>`;
	};
	return html`<table>
		<thead>
			<tr>${[{ name: title ?? 'id', schema: resource.properties[title ?? ''] ?? {} }, ...columns].map(header)}</tr>
		</thead>
		<tbody>
			${records.map(
				(record) => html`<tr>
					<th scope="row">${recordLink(resource, record)}</th>
					${columns.map(
						(column) => html`<td>
							${shownValue(visitor.store, column.schema, column.valueIn(record))}
							${column.name === 'amount' ? String(record['currency'] ?? '') : ''}
						</td>`,
					)}
				</tr>`,
			)}
		</tbody>
	</table>`;
}
