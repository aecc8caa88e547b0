import { html } from 'hono/html';
import { typeCondition, eventPatterns, eventTypesIn, eventJson } from '../../domain/events/event-types.ts';
import { type JsonObject, memberNamed, valueAt } from '../../core/foundation/json.ts';
import type { Service } from '../../core/service.ts';
import { eventsPath } from '../sign-in/navigation.ts';
import type { Html } from '../pages/page.ts';
import type { Resource, StoredRecord } from '../../core/schemas/resource.ts';
import { type Delivery, webhooks } from '../../core/schemas/webhooks.ts';
import { type Condition, equals } from '../../core/store/records/condition.ts';
import type { StoredEvent } from '../../core/store/log/event-reader.ts';
import { linkToRecord, recordLink, titleOf, actorOf, isEmptyValue, shownValue, timeOf, toneOf } from './values.ts';
import type { Visitor } from './visitor.ts';
import type { RequestOrigin } from '../../core/schemas/origin.ts';

const eventsAtOnce = 25;
const recentEvents = 10;

/** The log of events, the newest first, with the outcome of their deliveries. */
export function eventsBody(service: Service, visitor: Visitor, url: URL): Html {
	const type = url.searchParams.get('type') ?? '';
	const cause = url.searchParams.get('cause') ?? '';
	const before = Number(url.searchParams.get('before') ?? Infinity);
	const conditions: Condition[] = [
		...(type === '' ? [] : [typeCondition([type])]),
		...(cause === '' ? [] : [causeCondition(cause)]),
		...(Number.isSafeInteger(before) ? [{ sql: 'sequence < ?', values: [before] }] : []),
	];
	const { events, hasMore } = newestEvents(visitor, conditions, eventsAtOnce);
	const olderThan = String(events.at(-1)?.sequence);
	return html`<h1>Events</h1>
		<p class="quiet">Events of the last 30 days, and their deliveries to webhooks.</p>
		${cause === '' ? '' : html`<p>Only events caused by <code>${cause}</code>. <a href="${eventsPath}">Show all events</a></p>`}
		${typeForm(visitor, type, cause)} ${eventList(service, visitor, events)}
		<p class="row">
			${Number.isSafeInteger(before) ? html`<a class="button" href="${eventsUrl({ type, cause })}">Newest</a>` : ''}
			${hasMore ? html`<a class="button" href="${eventsUrl({ type, cause, before: olderThan })}">Older</a>` : ''}
		</p>`;
}

/** The latest events of all records, or of one. */
export function recentEventList(
	service: Service,
	visitor: Visitor,
	subject?: { resource: Resource; record: StoredRecord },
): Html {
	const conditions = subject ? [equals('resource', subject.resource.name), equals('record_id', subject.record.id)] : [];
	const { events } = newestEvents(visitor, conditions, recentEvents);
	return eventList(service, visitor, events);
}

function newestEvents({ store }: Visitor, conditions: Condition[], limit: number) {
	const found = store.events.page(conditions, limit + 1, true);
	return { events: found.slice(0, limit), hasMore: found.length > limit };
}

function typeForm({ store }: Visitor, chosen: string, cause: string): Html {
	const types = [...eventPatterns, ...eventTypesIn(store.unrestricted).map(({ type }) => type)].toSorted();
	return html`<form class="search row" method="get" action="${eventsPath}">
		<input type="hidden" name="cause" value="${cause}" />
		<label for="type">Type</label>
		<select id="type" name="type">
			<option value="">All events</option>
			${types.filter((type) => type !== '*')
				.map((type) => html`<option ${type === chosen ? 'selected' : ''}>${type}</option>`)}
		</select>
		<button>Show</button>
	</form>`;
}

function eventList(service: Service, visitor: Visitor, events: StoredEvent[]): Html {
	if (events.length === 0) return html`<p class="card quiet">Nothing has happened yet.</p>`;
	const deliveries = service.store.deliveries.ofEvents(events.map(({ sequence }) => sequence));
	return html`<ol class="card events">
		${events.map((event) =>
			eventItem(
				service,
				visitor,
				event,
				// Users see the subscriptions that they created, administrators see all.
				deliveries.filter(
					({ sequence, webhookId }) =>
						sequence === event.sequence && visitor.store.table(webhooks.name)!.find(webhookId),
				),
			),
		)}
	</ol>`;
}

interface EventData {
	object: StoredRecord;
	previous: JsonObject | null;
	/** Names of fields, or `custom_fields.<key>`. */
	changed: string[];
}

function eventItem(service: Service, visitor: Visitor, event: StoredEvent, deliveries: Delivery[]): Html {
	const data = JSON.parse(event.data) as EventData;
	const { object } = data;
	const table = visitor.store.table(event.resource);
	const isVisible = table?.find(object.id) !== undefined;
	return html`<li>
		<div class="row apart">
			<strong class="event-type">${event.type}</strong>
			<small>${timeOf(event.timestamp)}</small>
		</div>
		<p>
			${table && isVisible ? recordLink(table.resource, object) : table ? titleOf(table.resource, object) : object.id}
			<span class="quiet">by ${actorOf(service, visitor.store, event.actor)} ${causeLinks(event.request)}</span>
		</p>
		${changes(visitor, table?.resource, data)}
		${deliveries.map((delivery) => deliveryLine(visitor, delivery))}
		<details>
			<summary aria-label="Content of ${event.type} for ${object.id}">Content</summary>
			<pre tabindex="0">${JSON.stringify(JSON.parse(eventJson(event)), null, 2)}</pre>
		</details>
	</li>`;
}

/** The changed fields with their old and new values. */
function changes({ store }: Visitor, resource: Resource | undefined, { object, previous, changed }: EventData): Html {
	if (changed.length === 0) return html``;
	const renderValue = (field: string, value: unknown) => {
		const schema = memberNamed(resource?.properties, field) ?? {};
		const isNamed = typeof value === 'string' && value !== '' && ('x-resource' in schema || 'x-item-of' in schema);
		// A stage or a company is shown by its name.
		return isNamed ? shownValue(store, schema, value) : briefly(value);
	};
	return html`<ul class="changes">
		${changed.map(
			(field) => html`<li>
				<code>${field}</code>: <del>${renderValue(field, valueAt(previous, field.split('.')))}</del> →
				<ins>${renderValue(field, valueAt(object, field.split('.')))}</ins>
			</li>`,
		)}
	</ul>`;
}

const maxBriefLength = 60;

function briefly(value: unknown): string {
	if (isEmptyValue(value)) return 'empty';
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	return text.length > maxBriefLength ? `${text.slice(0, maxBriefLength - 1)}…` : text;
}

/** The outcome of an event's delivery to a subscription. */
export function deliveryLine({ store }: Visitor, delivery: Delivery): Html {
	const { status, attempts, nextAttemptAt, webhookId } = delivery;
	const last = attempts.at(-1);
	const outcome = last?.error ?? (last ? `The receiver responded with ${last.response_status}.` : '');
	return html`<p class="delivery">
		<span class="badge ${toneOf(status)}">${status}</span>
		to ${linkToRecord(store, webhooks.name, webhookId)}
		<small>
			${attempts.length} ${attempts.length === 1 ? 'attempt' : 'attempts'}. ${outcome}
			${nextAttemptAt === null ? '' : html`Next attempt ${timeOf(nextAttemptAt)}.`}
		</small>
	</p>`;
}

/** Selects the events whose idempotency keys begin with this text. */
const causeCondition = (cause: string): Condition => ({
	sql: `substr(json_extract(request, '$.idempotency_key'), 1, length(?)) = ?`,
	values: [cause, cause],
});

/** Links for the parts of n8n's idempotency keys: `n8n/<installation>/<workflow>/<execution>.<when it began>/`, and `undo/`. */
function causeLinks(origin: RequestOrigin | null): Html {
	const parts = /^(n8n\/[0-9a-f]{8}\/([\w-]+)\/)(?:(([\w-]+)(?:\.\w+)?\/)(?:undo\/)?)?[0-9a-f]{32,64}$/.exec(origin?.idempotency_key ?? '');
	if (!parts) return html``;
	const [, ofWorkflow = '', workflow = '', segment, execution] = parts;
	const executionLink = execution === undefined ? '' : html`, ${link(`${ofWorkflow}${segment}`, `execution ${execution}`)}`;
	return html`in n8n:
		${link(ofWorkflow, `workflow ${workflow}`)}${executionLink}`;
}

const link = (cause: string, label: string): Html =>
	html`<a href="${eventsUrl({ cause })}">${label}</a>`;

const eventsUrl = (parameters: Record<string, string>): string =>
	`${eventsPath}?${new URLSearchParams(parameters).toString()}`;
