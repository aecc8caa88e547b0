import type { Context } from 'hono';
import { memberNamed } from '../../core/foundation/json.ts';
import { Problem, type ProblemBody } from '../../core/foundation/problem.ts';
import type { Route } from '../../api/http/route.ts';
import type { Env, Service } from '../../core/service.ts';
import type { FormTexts } from '../pages/form-texts.ts';
import { formMiddleware } from '../pages/forms.ts';
import { alert } from '../pages/page.ts';
import { copyScript } from '../pages/copy-script.ts';
import { eventsPath, recordsPath } from '../pages/navigation.ts';
import { madeNotice, Notices } from '../pages/notices.ts';
import { applyOwnTransitions } from '../../domain/records/due-transitions.ts';
import { takeAction } from '../../domain/records/take-action.ts';
import { createRecord, deleteRecord, existingRecord, updateRecord } from '../../domain/records/write.ts';
import type { Resource, StoredRecord } from '../../core/schemas/resource.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import { createWebhook } from '../../api/webhooks/create-webhook.ts';
import { deleteWebhook } from '../../api/webhooks/revoke-access.ts';
import { eventsBody } from './events-page.ts';
import { formErrors, recordForm, type Submission, submitForm } from './form-page.ts';
import { actionFields, type FormField, formFields } from './form-fields.ts';
import { changeOf, formTexts, startOf } from './form-values.ts';
import { homeBody } from './home-page.ts';
import { listBody } from './list-page.ts';
import { recordBody } from './record-page.ts';
import { resourceLabels, recordPath, titleOf } from './titles.ts';
import { forVisitors, resourceIn, type Visitor, writeContextOf } from './visitor.ts';

const listPath = '/records/{resource}';
const detailPath = `${listPath}/{id}`;
const secretNote = 'Copy it now: it will not be shown again. Receivers use it to verify who sent an event.';
const noErrors = { errors: new Map<string, string[]>(), message: undefined };

/** The console: pages on which people see and change what the API serves. */
export function consoleRoutes(service: Service): Route[] {
	const notices = new Notices(service.now);
	const page = (path: string, show: (c: Context<Env>, visitor: Visitor) => Response | Promise<Response>): Route => ({
		method: 'GET',
		path,
		handler: forVisitors(service, show),
	});
	const form = (path: string, submissionOf: (c: Context<Env>, visitor: Visitor) => Promise<Submission>): Route => ({
		method: 'POST',
		path,
		handler: forVisitors(service, (c, visitor) =>
			submitForm(service, c, visitor, () => submissionOf(c, visitor)),
		),
		middleware: formMiddleware,
	});
	const recordOf = (c: Context<Env>, { store }: Visitor, resource: Resource) => {
		const id = c.req.param('id')!;
		applyOwnTransitions(service, resource, id);
		return existingRecord(store, resource, id);
	};

	/** The form of a new record or of one there is, as it begins or as it was refused. */
	const showForm = async (
		c: Context<Env>,
		visitor: Visitor,
		resource: Resource,
		stored: StoredRecord | undefined,
		refusal?: { fields: FormField[]; submittedTexts: FormTexts; problem: ProblemBody },
	) => {
		writeContextOf(service, c, resource, stored ? 'change' : 'create');
		const fields = refusal?.fields ?? (await formFields(visitor.store, resource, stored));
		const texts = refusal?.submittedTexts ?? startOf(fields, stored, new URL(c.req.url).searchParams);
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
	};

	const create = form(listPath, async (c, visitor) => {
		const resource = resourceIn(c, visitor);
		const fields = await formFields(visitor.store, resource, undefined);
		return {
			resource,
			verb: 'create',
			effect: (writing, submittedTexts) => {
				const values = changeOf(fields, formTexts(fields, {}), submittedTexts);
				if (resource.name !== webhooks.name) {
					return recordPath(resource, { id: createRecord(writing, values).id! });
				}
				const { webhook, secret } = createWebhook(writing, values, null);
				notices.put(visitor.session, madeNotice('Webhook created', { Secret: secret }, secretNote));
				return recordPath(resource, webhook);
			},
			onRefused: (submittedTexts, problem) => showForm(c, visitor, resource, undefined, { fields, submittedTexts, problem }),
		};
	});

	const update = form(detailPath, async (c, visitor) => {
		const resource = resourceIn(c, visitor);
		const stored = recordOf(c, visitor, resource);
		const fields = await formFields(visitor.store, resource, stored);
		return {
			resource,
			verb: 'change',
			effect: (writing, submittedTexts) => {
				const change = changeOf(fields, formTexts(fields, stored), submittedTexts);
				updateRecord(writing, stored.id, change, versionIn(submittedTexts));
				return recordPath(resource, stored);
			},
			onRefused: (submittedTexts, problem) => showForm(c, visitor, resource, stored, { fields, submittedTexts, problem }),
		};
	});

	/** What cannot be done is said on the page of the record. */
	const showRefusal =
		(visitor: Visitor, resource: Resource, record: StoredRecord): Submission['onRefused'] =>
		async (_, { status, detail }) =>
			visitor.show(
				titleOf(resource, record),
				await recordBody(service, visitor, resource, record, alert(detail)),
				status as 409,
			);

	const remove = form(`${detailPath}/delete`, async (c, visitor) => {
		const resource = resourceIn(c, visitor);
		const record = recordOf(c, visitor, resource);
		return {
			resource,
			verb: 'delete',
			effect: (writing, submittedTexts) => {
				const deletion = resource.name === webhooks.name ? deleteWebhook : deleteRecord;
				deletion(writing, record.id, versionIn(submittedTexts));
				return recordsPath(resource.name);
			},
			onRefused: showRefusal(visitor, resource, record),
		};
	});

	const act = form(`${detailPath}/actions/{action}`, async (c, visitor) => {
		const resource = resourceIn(c, visitor);
		const record = recordOf(c, visitor, resource);
		const action = memberNamed(resource.actions, c.req.param('action')!);
		if (!action) throw new Problem('not_found', 'There is no such action.');
		const fields = await actionFields(visitor.store, action.input ?? {});
		return {
			resource,
			verb: 'change',
			effect: (writing, submittedTexts) => {
				const input = changeOf(fields, formTexts(fields, {}), submittedTexts);
				takeAction(writing, record.id, action, input, versionIn(submittedTexts));
				return recordPath(resource, record);
			},
			onRefused: showRefusal(visitor, resource, record),
		};
	});

	return [
		page(eventsPath, async (c, visitor) =>
			visitor.show('Events', await eventsBody(service, visitor, new URL(c.req.url))),
		),
		page(listPath, async (c, visitor) => {
			const resource = resourceIn(c, visitor);
			const body = await listBody(service, visitor, resource, new URL(c.req.url));
			return visitor.show(resourceLabels(visitor.store, resource).plural, body);
		}),
		page(`${listPath}/new`, (c, visitor) => showForm(c, visitor, resourceIn(c, visitor), undefined)),
		page(detailPath, async (c, visitor) => {
			const resource = resourceIn(c, visitor);
			const record = recordOf(c, visitor, resource);
			const notice = resource.name === webhooks.name ? notices.take(visitor.session) : undefined;
			const body = await recordBody(service, visitor, resource, record, notice);
			// It may have changed hands while what belongs to it was counted.
			recordOf(c, visitor, resource);
			return visitor.show(titleOf(resource, record), body, 200, notice && copyScript);
		}),
		page(`${detailPath}/edit`, (c, visitor) => {
			const resource = resourceIn(c, visitor);
			return showForm(c, visitor, resource, recordOf(c, visitor, resource));
		}),
		create,
		update,
		remove,
		act,
	];
}

/** The home page, for those who open it in a browser. */
export const homeHandler = (service: Service): Route['handler'] =>
	forVisitors(service, async (c, visitor) =>
		visitor.show('Home', await homeBody(service, visitor, new URL(c.req.url).origin)),
	);

/** A form changes the version that it shows; without one it changes none. */
const versionIn = (form: FormTexts): string => `"${form.get('version') ?? ''}"`;
