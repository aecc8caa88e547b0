import type { Context } from 'hono';
import { Problem } from '../../core/foundation/problem.ts';
import type { Route } from '../../api/http/route.ts';
import type { Env, Service } from '../../core/service.ts';
import { newApiKey } from '../../core/store/credentials/api-keys.ts';
import { newSecret } from '../../core/store/credentials/secrets.ts';
import { deleteClient, revokeKey } from '../../api/webhooks/revoke-access.ts';
import { formMiddleware, readForm } from '../pages/forms.ts';
import { refusalPage } from '../pages/page.ts';
import { type Session, sessionOf, putNotice, takeNotice } from '../sign-in/session.ts';
import { navigation, settingsPath } from '../sign-in/navigation.ts';
import { settingsPage } from './settings-page.ts';
import { signInUrl } from '../sign-in/sign-in.ts';

const maxNameLength = 100;

/** Performs a form's action. */
type FormAction = (service: Service, form: URLSearchParams, session: Session) => void;

/** The page where administrators manage API keys and OAuth clients. */
export function settingsRoutes(service: Service): Route[] {
	const asAdministrator = (proceed: (c: Context<Env>, session: Session) => Response | Promise<Response>): Route['handler'] => (c) => {
		const session = sessionOf(service, c);
		if (!session) return c.redirect(signInUrl(settingsPath), 303);
		if (session.member.role === 'admin') return proceed(c, session);
		const detail = 'API keys give access to the whole account. Ask an administrator to create one.';
		return refusalPage(c, 403, 'Only administrators can open these settings', detail);
	};

	const view = (session: Session) => ({
		navigation: navigation(service, session, settingsPath),
		apiKeys: service.store.apiKeys.list(),
		clients: service.store.clients.list(),
		notice: takeNotice(session),
	});

	const act = asAdministrator(async (c, session) => {
		const form = await readForm(c);
		try {
			service.store.transaction(() => actions.get(form.get('action') ?? '')?.(service, form, session));
			return c.redirect(settingsPath, 303);
		} catch (error) {
			if (!(error instanceof Problem)) throw error;
			return settingsPage(c, { ...view(session), error: error.message, submittedTexts: form });
		}
	});

	return [
		{ method: 'GET', path: settingsPath, handler: asAdministrator((c, session) => settingsPage(c, view(session))) },
		{ method: 'POST', path: settingsPath, handler: act, middleware: formMiddleware },
	];
}

const createKey: FormAction = ({ store, newId, now }, form, session) => {
	const name = nameIn(form, 'key_name');
	const key = newApiKey();
	store.apiKeys.add(newId('key', now()), key, { name, now: now() });
	const note = 'Copy it now: it is not shown again, and only its hash is stored.';
	putNotice(session, `API key “${name}” created`, { 'API key': key }, note);
};

const createClient: FormAction = ({ store, newId, now }, form, session) => {
	const name = nameIn(form, 'client_name');
	const redirectUris = redirectAddressesIn(form.get('redirect_addresses') ?? '');
	const id = newId('cli', now());
	const isPublic = form.get('client_type') === 'public';
	const secret = isPublic ? undefined : newSecret('crm_secret');
	store.clients.add({ id, name, redirectUris, createdAt: now() }, secret);
	const values = { 'Client ID': id, ...(secret !== undefined && { 'Client secret': secret }) };
	const note = isPublic
		? 'A public client has no secret.'
		: 'Copy the secret now: it is not shown again, and only its hash is stored.';
	putNotice(session, `OAuth client “${name}” created`, values, note);
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
	throw new Problem('validation_failed', `Enter a name of 1 to ${maxNameLength} characters.`);
}

/**
 * Safe from eavesdroppers (RFC 9700, 2.1 and 2.6): https, or http on the user's own machine. In a host, URLs allow more
 * characters than DNS, and `;` or `*` has a meaning in a Content Security Policy.
 */
const safeAddress = /^(https:\/\/([\w.-]+|\[[\da-f:.]+\])|http:\/\/(localhost|127\.0\.0\.1|\[::1\]))(:\d+)?(\/[^#]*)?$/i;

/** The redirect addresses in a text, unchanged, because they are compared as strings. */
function redirectAddressesIn(text: string): string[] {
	const addresses = [...new Set(text.split(/\s+/).filter(Boolean))];
	const unsafe = addresses.find((address) => !URL.canParse(address) || !safeAddress.test(address));
	const rule = 'It must be https://, or http:// on your own machine, without a user, a password and a part after #.';
	if (unsafe !== undefined) throw new Problem('validation_failed', `${unsafe} is no redirect address. ${rule}`);
	if (addresses.length > 0) return addresses;
	throw new Problem('validation_failed', 'Enter at least one redirect address.');
}
