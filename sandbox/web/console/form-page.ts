import type { Context } from 'hono';
import { html } from 'hono/html';
import { Problem, type ProblemBody } from '../../core/foundation/problem.ts';
import type { Env, Service } from '../../core/service.ts';
import { formInputs, handleForm } from '../sign-in/signed-in-forms.ts';
import { alert, type Html } from '../pages/page.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import type { WriteContext } from '../../core/store/write-context.ts';
import type { FormField } from './form-fields.ts';
import { type FormState, formInput } from './widgets.ts';
import { type WriteVerb, type Visitor, writeContextOf } from './visitor.ts';

interface RecordForm {
	title: string;
	fields: FormField[];
	state: FormState;
	/** The error that does not belong to a field. */
	message: string | undefined;
	/** The address to which the form is sent. */
	to: string;
	/** The version of the record that the form shows; undefined for a new one. */
	version: string | undefined;
	submit: string;
	cancel: string;
}

/** A form for a record: the fields people use first, the rest one click away. */
export function recordForm({ session }: Visitor, form: RecordForm): Html {
	const { title, fields, state, message, to, version, submit, cancel } = form;
	const inputs = (isImportant: boolean) =>
		fields.filter((field) => field.isImportant === isImportant).map((field) => formInput(state, field));
	const [first, more] = [inputs(true), inputs(false)];
	const hasErrors = fields.some(({ name, isImportant }) => !isImportant && state.errors.has(name));
	return html`<h1>${title}</h1>
		${alert(message)}
		<form class="card" method="post" action="${to}">
			${formInputs(session)}
			${version === undefined ? '' : html`<input type="hidden" name="version" value="${version}" />`}
			<div class="fields">${first}</div>
			${more.length === 0
				? ''
				: html`<details class="more" ${hasErrors ? 'open' : ''}>
						<summary>More fields</summary>
						<div class="fields">${more}</div>
					</details>`}
			<p class="row"><button class="main">${submit}</button> <a href="${cancel}">Cancel</a></p>
		</form>`;
}

/** What a submitted form changes, and how its result is shown. */
export interface Submission {
	resource: Resource;
	verb: WriteVerb;
	/** @returns where to redirect */
	perform(context: WriteContext, form: URLSearchParams): string;
	/** Shows the errors and what was typed. */
	onRefused(form: URLSearchParams, problem: ProblemBody): Response | Promise<Response>;
}

/**
 * Performs the change of a form once and in one transaction, as the API does.
 *
 * @param submissionOf is not called for a form that was handled before, whose record may be gone
 */
export const submitForm = (
	service: Service,
	c: Context<Env>,
	visitor: Visitor,
	submissionOf: () => Promise<Submission>,
): Promise<Response> =>
	handleForm(service, c, visitor.session, async (form, doOnce) => {
		const { resource, verb, perform, onRefused } = await submissionOf();
		const context = writeContextOf(service, c, resource, verb);
		try {
			return doOnce(() => perform(context, form));
		} catch (error) {
			if (!(error instanceof Problem) || error.status === 404) throw error;
			return await onRefused(form, error.body(c.get('requestId')));
		}
	});

/** The errors of a form: those of inputs by name, and one for the form. */
export function formErrors(resource: Resource, fields: FormField[], problem: ProblemBody) {
	const errors = new Map<string, string[]>();
	const others: string[] = [];
	const add = (name: string, detail: string) => {
		const field = fields.find((candidate) => `${name}.`.startsWith(`${candidate.name}.`));
		if (field) errors.set(field.name, [...(errors.get(field.name) ?? []), detail]);
		else others.push(detail);
	};
	for (const error of problem.errors) {
		add('pointer' in error ? nameAt(error.pointer) : error.parameter, error.detail);
	}
	if (problem.code === 'invalid_state_transition') add(resource.states!.field, problem.detail);
	else if (problem.errors.length === 0) others.push(problem.detail);
	const summary = 'Not saved. Correct the marked fields.';
	return { errors, message: others.length > 0 ? others.join(' ') : summary };
}

/** `/links/0/id` is the input `links.0.id`. */
const nameAt = (pointer: string): string =>
	pointer.slice(1).split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
