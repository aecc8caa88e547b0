import { html } from 'hono/html';
import { recordsPath } from '../sign-in/navigation.ts';
import type { Html } from '../pages/page.ts';
import { customFields } from '../../core/schemas/custom-fields.ts';
import { customObjects, recordsName } from '../../core/schemas/custom-objects.ts';
import type { Resource, StoredRecord } from '../../core/schemas/resource.ts';
import { customFieldsOf } from '../../core/store/records/custom-fields-of.ts';
import { recordLink } from './titles.ts';
import { shownValue } from './values.ts';
import { may, type Visitor } from './visitor.ts';

/** The fields of a custom object's records, on the page of the object. */
export function fieldsOfObject(visitor: Visitor, { name }: Resource, object: StoredRecord): Html | '' {
	if (name !== customObjects.name) return '';
	const { store } = visitor;
	const resource = recordsName(String(object['key']));
	const primary = String(object['primary_field']);
	const fields = [...customFieldsOf(store, resource).values()];
	const hasPrimary = fields.some(({ key }) => key === primary);
	const add = new URLSearchParams({ resource, ...(!hasPrimary && { key: primary, type: 'text' }) });
	return html`<section aria-labelledby="fields">
		<div class="row apart">
			<h2 id="fields">Fields of its records</h2>
			<a href="${recordsPath(resource)}">All ${String(object['label_plural'])}</a>
		</div>
		<ul class="card related">
			${fields.map(
				(field) => html`<li class="row">
					<span class="grow">${recordLink(customFields, field)} <code>${field.key}</code></span>
					${field.key === primary ? html`<small>title of the record</small>` : ''}
					${shownValue(store, customFields.properties['type']!, field.type)}
				</li>`,
			)}
			<li class="row">
				<span class="grow">
					${hasPrimary ? '' : html`Add the field <code>${primary}</code> first: it gives records their title.`}
				</span>
				${may(visitor, 'create', customFields)
					? html`<a class="button" href="${recordsPath(customFields.name)}/new?${add.toString()}">Add field</a>`
					: ''}
			</li>
		</ul>
	</section>`;
}
