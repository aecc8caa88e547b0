import type { Context } from 'hono';
import { Problem } from '../../core/foundation/problem.ts';
import { parseRedirectAddresses, RedirectAddressError } from '../../api/oauth/redirect-addresses.ts';
import type { Route } from '../../api/http/route.ts';
import type { Env, Service } from '../../core/service.ts';
import { newApiKey } from '../../core/store/credentials/api-keys.ts';
import { newSecret } from '../../core/store/credentials/secrets.ts';
import { deleteClient, revokeKey } from '../../api/webhooks/revoke-access.ts';
import { formMiddleware } from '../pages/forms.ts';
import { handleForm } from '../sign-in/signed-in-forms.ts';
import { type Html, refusalPage } from '../pages/page.ts';
import { type Session, sessionOf } from '../sign-in/session.ts';
import { navigation, settingsPath } from '../sign-in/navigation.ts';
import { creationNotice, Notices } from '../sign-in/notices.ts';
import { settingsPage } from './settings-page.ts';
import { signInUrl } from '../sign-in/sign-in.ts';

const maxNameLength = 100;

/** Performs a form's action and returns a notice, if there is something to show. */
type FormAction = (service: Service, form: URLSearchParams) => Html | void;

/** A mistake in a form; the message is for the person who filled it in. */
class FormError extends Error {}

/** The page where administrators manage API keys and OAuth clients. */
export function settingsRoutes(service: Service): Route[] {
	const asAdministrator = (c: Context<Env>, proceed: (session: Session) => Response | Promise<Response>) => {
		const session = sessionOf(service, c);
		if (!session) return c.redirect(signInUrl(settingsPath), 303);
		if (session.member.role === 'admin') return proceed(session);
		const detail = 'API keys give access to the whole account. Ask an administrator to create one.';
		return refusalPage(c, 403, 'Only administrators can open these settings', detail);
	};

	const notices = new Notices(service.now);

	const view = (session: Session) => ({
		session,
		navigation: navigation(service, session, settingsPath),
		apiKeys: service.store.apiKeys.list(),
		clients: service.store.clients.list(),
		notice: notices.take(session),
	});

	const act: Route['handler'] = (c) =>
		asAdministrator(c, (session) =>
			handleForm(service, c, session, (form, doOnce) => {
				const action = actions.get(form.get('action') ?? '');
				try {
					return doOnce(() => {
						// While a large form is read, other requests are answered, and one of them may demote the user.
						if (sessionOf(service, c)?.member.role !== 'admin') {
							throw new Problem('insufficient_scope', 'Only administrators can change these settings.');
						}
						const notice = action?.(service, form);
						if (notice) notices.put(session, notice);
						return settingsPath;
					});
				} catch (error) {
					if (!(error instanceof FormError || error instanceof RedirectAddressError)) throw error;
					return settingsPage(c, { ...view(session), error: error.message, submittedTexts: form });
				}
			}),
		);

	return [
		{ method: 'GET', path: settingsPath, handler: (c) => asAdministrator(c, (session) => settingsPage(c, view(session))) },
		{ method: 'POST', path: settingsPath, handler: act, middleware: formMiddleware },
	];
}

const createKey: FormAction = ({ store, newId, now }, form) => {
	const name = nameIn(form, 'key_name');
	const key = newApiKey();
	store.apiKeys.add(newId('key', now()), key, { name, now: now() });
	const note = 'Copy it now: it is not shown again, and only its hash is stored.';
	return creationNotice(`API key “${name}” created`, { 'API key': key }, note);
};

const createClient: FormAction = ({ store, newId, now }, form) => {
	const name = nameIn(form, 'client_name');
	const redirectUris = parseRedirectAddresses(form.get('redirect_addresses') ?? '');
	const id = newId('cli', now());
	const isPublic = form.get('client_type') === 'public';
	const secret = isPublic ? undefined : newSecret('crm_secret');
	store.clients.add({ id, name, redirectUris, createdAt: now() }, secret);
	const values = { 'Client ID': id, ...(secret !== undefined && { 'Client secret': secret }) };
	const note = isPublic
		? 'A public client has no secret.'
		: 'Copy the secret now: it is not shown again, and only its hash is stored.';
	return creationNotice(`OAuth client “${name}” created`, values, note);
};

const actions: ReadonlyMap<string, FormAction> = new Map<string, FormAction>([
	['create-key', createKey],
	['revoke-key', (service, form) => revokeKey(service, form.get('id') ?? '')],
	['create-client', createClient],
	['delete-client', (service, form) => deleteClient(service, form.get('id') ?? '')],
]);

function nameIn(form: URLSearchParams, field: string): string {
	const name = form.get(field)?.trim() ?? '';
	if (name.length >= 1 && name.length <= maxNameLength) return name;
	throw new FormError(`Enter a name of 1 to ${maxNameLength} characters.`);
}
