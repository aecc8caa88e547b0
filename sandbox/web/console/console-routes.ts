import type { Context } from 'hono';
import { html } from 'hono/html';
import { memberNamed } from '../../core/foundation/json.ts';
import { Problem, type ProblemBody } from '../../core/foundation/problem.ts';
import { type Route, docsPath } from '../../api/http/route.ts';
import type { Env, Service } from '../../core/service.ts';
import { formMiddleware, readForm } from '../pages/forms.ts';
import { alert, type Html } from '../pages/page.ts';
import { eventsPath, recordsPath, customerResources, settingsPath } from '../sign-in/navigation.ts';
import { putNotice, takeNotice } from '../sign-in/session.ts';
import { takeAction, createRecord, deleteRecord, existingRecord, updateRecord } from '../../domain/records/write.ts';
import { actionInput, type Resource, type StoredRecord } from '../../core/schemas/resource.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import type { WriteContext } from '../../core/store/write-context.ts';
import { createWebhook } from '../../api/webhooks/create-webhook.ts';
import { eventsBody, recentEventList } from './events-page.ts';
import { actionFields, type FormField, formFields } from './form-fields.ts';
import { changeOf, formTexts, initialFormTexts } from './form-values.ts';
import { listBody } from './list-page.ts';
import { recordBody } from './record-page.ts';
import { resourceLabels, recordPath, titleOf, resourcesOfObjects } from './values.ts';
import { forVisitors, resourceIn, type Visitor, type WriteVerb, writeContextOf } from './visitor.ts';
import { formInput } from './widgets.ts';

const listPath = '/records/{resource}';
const recordTemplate = `${listPath}/{id}`;
const secretNote = 'Copy it now: it will not be shown again. Receivers use it to verify who sent an event.';
const noErrors = { errors: new Map<string, string[]>(), message: undefined };

/** A request for the records of a resource. */
interface RecordRequest {
	c: Context<Env>;
	visitor: Visitor;
	resource: Resource;
}

/** What was typed into a form, and why it was refused. */
interface Refusal {
	fields: FormField[];
	form: URLSearchParams;
	problem: ProblemBody;
}

/** Shows records and their forms, and handles the forms. */
class RecordPages {
	private readonly service: Service;

	constructor(service: Service) {
		this.service = service;
	}

	showList({ c, visitor, resource }: RecordRequest) {
		const body = listBody(this.service, visitor, resource, new URL(c.req.url));
		return visitor.show(resourceLabels(visitor.store, resource).plural, body);
	}

	showRecord(request: RecordRequest) {
		const { visitor, resource } = request;
		const record = this.recordOf(request);
		const notice = resource.name === webhooks.name ? takeNotice(visitor.session) : '';
		return visitor.show(titleOf(resource, record), recordBody(this.service, visitor, resource, record, notice));
	}

	/** Shows the form of a new or a stored record, either fresh or after it was refused. */
	showForm({ c, visitor, resource }: RecordRequest, stored?: StoredRecord, refusal?: Refusal) {
		writeContextOf(this.service, c, visitor, resource, stored ? 'change' : 'create');
		const { searchParams } = new URL(c.req.url);
		const fields = refusal?.fields ?? formFields(visitor.store, resource, stored, searchParams);
		const texts = refusal?.form ?? initialFormTexts(fields, stored, searchParams);
		const { errors, message } = refusal ? formErrors(resource, fields, refusal.problem) : noErrors;
		const { singular: label } = resourceLabels(visitor.store, resource);
		const to = stored ? recordPath(resource, stored) : recordsPath(resource.name);
		const title = stored ? `Edit ${titleOf(resource, stored)}` : `New ${label.toLowerCase()}`;
		const inputs = (isImportant: boolean) =>
			fields.filter((field) => field.isImportant === isImportant)
				.map((field) => formInput({ texts, errors, isNew: !stored }, field));
		const more = inputs(false);
		const hasErrors = fields.some(({ name, isImportant }) => !isImportant && errors.has(name));
		const body = html`<h1>${title}</h1>
			${alert(message)}
			<form class="card" method="post" action="${to}">
				${stored ? html`<input type="hidden" name="version" value="${refusal?.form.get('version') ?? stored.version}" />` : ''}
				<div class="fields">${inputs(true)}</div>
				${more.length === 0
					? ''
					: html`<details class="more" ${hasErrors ? 'open' : ''}>
							<summary>More fields</summary>
							<div class="fields">${more}</div>
						</details>`}
				<p class="row"><button class="main">${stored ? 'Save' : `Create ${label.toLowerCase()}`}</button> <a href="${to}">Cancel</a></p>
			</form>`;
		return visitor.show(title, body, (refusal?.problem.status ?? 200) as 422);
	}

	create(request: RecordRequest) {
		const { visitor, resource } = request;
		const fields = formFields(visitor.store, resource, undefined);
		return this.submit(request, 'create', fields, undefined, (context, form) => {
			const values = changeOf(fields, formTexts(fields, {}), form);
			if (resource.name !== webhooks.name) return recordPath(resource, { id: createRecord(context, values).id! });
			const { webhook, secret } = createWebhook(context, values, null);
			putNotice(visitor.session, 'Webhook created', { Secret: secret }, secretNote);
			return recordPath(resource, webhook);
		});
	}

	change(request: RecordRequest) {
		const { visitor, resource } = request;
		const stored = this.recordOf(request);
		const fields = formFields(visitor.store, resource, stored);
		return this.submit(request, 'change', fields, stored, (context, form) => {
			updateRecord(context, stored.id, changeOf(fields, formTexts(fields, stored), form), versionIn(form));
			return recordPath(resource, stored);
		});
	}

	delete(request: RecordRequest) {
		const { resource } = request;
		const stored = this.recordOf(request);
		return this.submit(request, 'delete', undefined, stored, (context, form) => {
			deleteRecord(context, stored.id, versionIn(form));
			return recordsPath(resource.name);
		});
	}

	act(request: RecordRequest) {
		const { c, visitor, resource } = request;
		const stored = this.recordOf(request);
		const action = memberNamed(resource.actions, c.req.param('action')!);
		if (!action) throw new Problem('not_found', 'There is no such action.');
		return this.submit(request, 'change', undefined, stored, (context, form) => {
			const fields = actionFields(visitor.store, actionInput(action));
			takeAction(context, stored.id, action, changeOf(fields, formTexts(fields, {}), form), versionIn(form));
			return recordPath(resource, stored);
		});
	}

	/**
	 * Performs the change of a form in one transaction, as the API does. A refused change is shown in the form of these
	 * fields or, without fields, on the page of the record.
	 *
	 * @param perform returns where to redirect
	 */
	private async submit(
		request: RecordRequest,
		verb: WriteVerb,
		fields: FormField[] | undefined,
		stored: StoredRecord | undefined,
		perform: (context: WriteContext, form: URLSearchParams) => string,
	): Promise<Response> {
		const { c, visitor, resource } = request;
		const context = writeContextOf(this.service, c, visitor, resource, verb);
		const form = await readForm(c);
		try {
			return c.redirect(this.service.store.transaction(() => perform(context, form)), 303);
		} catch (error) {
			if (!(error instanceof Problem) || error.status === 404) throw error;
			const problem = error.body(c.get('requestId'));
			if (fields) return this.showForm(request, stored, { fields, form, problem });
			const body = recordBody(this.service, visitor, resource, stored!, alert(problem.detail));
			return visitor.show(titleOf(resource, stored!), body, problem.status as 409);
		}
	}

	recordOf({ c, visitor, resource }: RecordRequest): StoredRecord {
		return existingRecord(visitor.store, resource, c.req.param('id')!);
	}
}

/** The console: pages on which people see and change what the API serves. */
export function consoleRoutes(service: Service): Route[] {
	const pages = new RecordPages(service);
	type Handle = (request: RecordRequest) => Response | Promise<Response>;
	const handlerOf = (handle: Handle) => forVisitors(service, (c, visitor) => handle({ c, visitor, resource: resourceIn(c, visitor) }));
	const page = (path: string, handle: Handle): Route => ({ method: 'GET', path, handler: handlerOf(handle) });
	const form = (path: string, handle: Handle): Route =>
		({ method: 'POST', path, handler: handlerOf(handle), middleware: formMiddleware });
	const showEvents = forVisitors(service, (c, visitor) =>
		visitor.show('Events', eventsBody(service, visitor, new URL(c.req.url))),
	);
	return [
		{ method: 'GET', path: eventsPath, handler: showEvents },
		page(listPath, (request) => pages.showList(request)),
		page(`${listPath}/new`, (request) => pages.showForm(request)),
		page(recordTemplate, (request) => pages.showRecord(request)),
		page(`${recordTemplate}/edit`, (request) => pages.showForm(request, pages.recordOf(request))),
		form(listPath, (request) => pages.create(request)),
		form(recordTemplate, (request) => pages.change(request)),
		form(`${recordTemplate}/delete`, (request) => pages.delete(request)),
		form(`${recordTemplate}/actions/{action}`, (request) => pages.act(request)),
	];
}

/** The home page, for those who open it in a browser. */
export const homeHandler = (service: Service): Route['handler'] =>
	forVisitors(service, (c, visitor) => visitor.show('Home', homeBody(service, visitor, new URL(c.req.url).origin)));

/** The version that the form shows, as an If-Match; without one, no version matches. */
const versionIn = (form: URLSearchParams): string => `"${form.get('version') ?? ''}"`;

/** The errors of a form: those of inputs by name, and one for the form. */
function formErrors(resource: Resource, fields: FormField[], problem: ProblemBody) {
	const errors = new Map<string, string[]>();
	const others: string[] = [];
	const add = (name: string, detail: string) => {
		const field = fields.find((candidate) => `${name}.`.startsWith(`${candidate.name}.`));
		if (field) errors.set(field.name, [...(errors.get(field.name) ?? []), detail]);
		else others.push(detail);
	};
	for (const error of problem.errors) {
		// `/links/0/id` is the input `links`.
		add('pointer' in error ? error.pointer.slice(1).replaceAll('/', '.') : error.parameter, error.detail);
	}
	if (problem.code === 'invalid_state_transition') add(resource.states!.field, problem.detail);
	else if (problem.errors.length === 0) others.push(problem.detail);
	return { errors, message: others.length > 0 ? others.join(' ') : 'Not saved. Correct the marked fields.' };
}

/**
 * The number of records of each type, and the latest events.
 *
 * @param origin the origin of the API
 */
function homeBody(service: Service, visitor: Visitor, origin: string): Html {
	const { session, store } = visitor;
	const tiles = [...customerResources, ...resourcesOfObjects(store)].map((resource) => {
		const total = store.table(resource.name)!.count([]);
		return html`<li>
			<a class="card" href="${recordsPath(resource.name)}">
				<strong>${total.toLocaleString('en-GB')}</strong> ${resourceLabels(store, resource).plural}
			</a>
		</li>`;
	});
	const key =
		session.member.role === 'admin'
			? html`get a key in <a href="${settingsPath}">API and integrations</a>`
			: 'ask an administrator for a key';
	return html`<h1>Welcome, ${session.member.name}</h1>
		<p class="quiet">This is a sandbox with made-up customers. Change whatever you like, and see here what
			your workflows do. Its API is at <code>${origin}</code>: ${key}, and read the
			<a href="${docsPath}">API documentation</a>.</p>
		<ul class="tiles">
			${tiles}
		</ul>
		<section aria-labelledby="recent">
			<div class="row apart">
				<h2 id="recent">Recent events</h2>
				<a href="${eventsPath}">All events</a>
			</div>
			${recentEventList(service, visitor)}
		</section>`;
}
