import type { Context } from 'hono';
import { memberNamed } from '../../core/foundation/json.ts';
import { Problem, type ProblemBody } from '../../core/foundation/problem.ts';
import type { Route } from '../../api/http/route.ts';
import type { Env, Service } from '../../core/service.ts';
import { formMiddleware } from '../pages/forms.ts';
import { alert } from '../pages/page.ts';
import { eventsPath, recordsPath } from '../sign-in/navigation.ts';
import { creationNotice, Notices, copyScript } from '../sign-in/notices.ts';
import { takeAction } from '../../domain/records/take-action.ts';
import { createRecord, deleteRecord, existingRecord, updateRecord } from '../../domain/records/write.ts';
import { actionInput, type Resource, type StoredRecord } from '../../core/schemas/resource.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import { createWebhook } from '../../api/webhooks/create-webhook.ts';
import { eventsBody } from './events-page.ts';
import { formErrors, recordForm, type Submission, submitForm } from './form-page.ts';
import { actionFields, type FormField, formFields } from './form-fields.ts';
import { changeOf, formTexts, initialFormTexts } from './form-values.ts';
import { homeBody } from './home-page.ts';
import { listBody } from './list-page.ts';
import { recordBody } from './record-page.ts';
import { resourceLabels, recordPath, titleOf } from './titles.ts';
import { forVisitors, resourceIn, type Visitor, writeContextOf } from './visitor.ts';

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
	submittedTexts: URLSearchParams;
	problem: ProblemBody;
}

/** Shows records and their forms, and handles the forms. */
class RecordPages {
	private readonly service: Service;
	private readonly notices: Notices;

	constructor(service: Service) {
		this.service = service;
		this.notices = new Notices(service.now);
	}

	async showList({ c, visitor, resource }: RecordRequest): Promise<Response> {
		const body = await listBody(this.service, visitor, resource, new URL(c.req.url));
		return visitor.show(resourceLabels(visitor.store, resource).plural, body);
	}

	async showRecord(request: RecordRequest): Promise<Response> {
		const { visitor, resource } = request;
		const record = this.recordOf(request);
		const notice = resource.name === webhooks.name ? this.notices.take(visitor.session) : undefined;
		const body = await recordBody(this.service, visitor, resource, record, notice);
		return visitor.show(titleOf(resource, record), body, 200, notice && copyScript);
	}

	/** Shows the form of a new or a stored record, either fresh or after it was refused. */
	async showForm({ c, visitor, resource }: RecordRequest, stored?: StoredRecord, refusal?: Refusal): Promise<Response> {
		writeContextOf(this.service, c, resource, stored ? 'change' : 'create');
		const fields = refusal?.fields ?? formFields(visitor.store, resource, stored);
		const texts = refusal?.submittedTexts ?? initialFormTexts(fields, stored, new URL(c.req.url).searchParams);
		const { errors, message } = refusal ? formErrors(resource, fields, refusal.problem) : noErrors;
		const { singular: label } = resourceLabels(visitor.store, resource);
		const to = stored ? recordPath(resource, stored) : recordsPath(resource.name);
		const title = stored ? `Edit ${titleOf(resource, stored)}` : `New ${label.toLowerCase()}`;
		const body = await recordForm(visitor, {
			title,
			fields,
			state: { texts, errors, isNew: !stored },
			message,
			to,
			version: stored && (refusal?.submittedTexts.get('version') ?? String(stored.version)),
			cancel: to,
			submit: stored ? 'Save' : `Create ${label.toLowerCase()}`,
		});
		return visitor.show(title, body, (refusal?.problem.status ?? 200) as 422);
	}

	async create(request: RecordRequest): Promise<Submission> {
		const { visitor, resource } = request;
		const fields = formFields(visitor.store, resource, undefined);
		return {
			resource,
			verb: 'create',
			perform: (context, submittedTexts) => {
				const values = changeOf(fields, formTexts(fields, {}), submittedTexts);
				if (resource.name !== webhooks.name) {
					return recordPath(resource, { id: createRecord(context, values).id! });
				}
				const { webhook, secret } = createWebhook(context, values, null);
				this.notices.put(visitor.session, creationNotice('Webhook created', { Secret: secret }, secretNote));
				return recordPath(resource, webhook);
			},
			onRefused: (submittedTexts, problem) => this.showForm(request, undefined, { fields, submittedTexts, problem }),
		};
	}

	async change(request: RecordRequest): Promise<Submission> {
		const { visitor, resource } = request;
		const stored = this.recordOf(request);
		const fields = formFields(visitor.store, resource, stored);
		return {
			resource,
			verb: 'change',
			perform: (context, submittedTexts) => {
				const change = changeOf(fields, formTexts(fields, stored), submittedTexts);
				updateRecord(context, stored.id, change, versionIn(submittedTexts));
				return recordPath(resource, stored);
			},
			onRefused: (submittedTexts, problem) => this.showForm(request, stored, { fields, submittedTexts, problem }),
		};
	}

	async delete(request: RecordRequest): Promise<Submission> {
		const { resource } = request;
		const record = this.recordOf(request);
		return {
			resource,
			verb: 'delete',
			perform: (context, submittedTexts) => {
				deleteRecord(context, record.id, versionIn(submittedTexts));
				return recordsPath(resource.name);
			},
			onRefused: (_, problem) => this.showRefusal(request, record, problem),
		};
	}

	async act(request: RecordRequest): Promise<Submission> {
		const { c, visitor, resource } = request;
		const record = this.recordOf(request);
		const action = memberNamed(resource.actions, c.req.param('action')!);
		if (!action) throw new Problem('not_found', 'There is no such action.');
		const fields = actionFields(visitor.store, actionInput(action));
		return {
			resource,
			verb: 'change',
			perform: (context, submittedTexts) => {
				const input = changeOf(fields, formTexts(fields, {}), submittedTexts);
				takeAction(context, record.id, action, input, versionIn(submittedTexts));
				return recordPath(resource, record);
			},
			onRefused: (_, problem) => this.showRefusal(request, record, problem),
		};
	}

	/** Shows on the page of the record why something cannot be done. */
	private async showRefusal(
		{ visitor, resource }: RecordRequest,
		record: StoredRecord,
		{ status, detail }: ProblemBody,
	): Promise<Response> {
		const body = await recordBody(this.service, visitor, resource, record, alert(detail));
		return visitor.show(titleOf(resource, record), body, status as 409);
	}

	recordOf({ c, visitor, resource }: RecordRequest): StoredRecord {
		const id = c.req.param('id')!;
		return existingRecord(visitor.store, resource, id);
	}
}

/** The console: pages on which people see and change what the API serves. */
export function consoleRoutes(service: Service): Route[] {
	const pages = new RecordPages(service);
	const requestOf = (c: Context<Env>, visitor: Visitor) => ({ c, visitor, resource: resourceIn(c, visitor) });
	const page = (path: string, show: (request: RecordRequest) => Promise<Response>): Route => ({
		method: 'GET',
		path,
		handler: forVisitors(service, (c, visitor) => show(requestOf(c, visitor))),
	});
	const form = (path: string, submissionOf: (request: RecordRequest) => Promise<Submission>): Route => ({
		method: 'POST',
		path,
		handler: forVisitors(service, (c, visitor) => submitForm(service, c, visitor, () => submissionOf(requestOf(c, visitor)))),
		middleware: formMiddleware,
	});
	const showEvents = forVisitors(service, async (c, visitor) =>
		visitor.show('Events', await eventsBody(service, visitor, new URL(c.req.url))),
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
	forVisitors(service, async (c, visitor) => visitor.show('Home', await homeBody(service, visitor, new URL(c.req.url).origin)));

/** The version that the form shows, as an If-Match; without one, no version matches. */
const versionIn = (form: URLSearchParams): string => `"${form.get('version') ?? ''}"`;
