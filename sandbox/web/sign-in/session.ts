import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Env, Service } from '../../core/service.ts';
import type { Member } from '../../core/store/credentials/members.ts';
import { html } from 'hono/html';
import type { Html } from '../pages/page.ts';

const cookie = 'crm_session';

/** A signed-in user in one browser. */
export interface Session {
	token: string;
	member: Member;
}

export function sessionOf({ store, now }: Service, c: Context<Env>): Session | undefined {
	const token = getCookie(c, cookie);
	const userId = token === undefined ? undefined : store.sessions.find(token, now());
	const member = userId === undefined ? undefined : store.members.find(userId);
	return token !== undefined && member ? { token, member } : undefined;
}

/** Opens a session, always with a new token, which prevents session fixation. */
export function openSession({ store, now }: Service, c: Context<Env>, userId: string): void {
	setCookie(c, cookie, store.sessions.open(userId, now()), {
		httpOnly: true,
		// Lax, because applications send their users here from other sites.
		sameSite: 'Lax',
		secure: new URL(c.req.url).protocol === 'https:',
		path: '/',
	});
}

export function closeSession({ store }: Service, c: Context<Env>, { token }: Session): void {
	store.sessions.close(token);
	deleteCookie(c, cookie, { path: '/' });
}

/**
 * Notices that a page shows once, after the redirect that follows a form, by session token. They may contain secrets,
 * so they are kept only in memory.
 */
const notices = new Map<string, Html>();

/** Notes a new key, client or webhook, with its secret, which is never shown again. */
export function putNotice({ token }: Session, title: string, values: Record<string, string>, note: string): void {
	notices.set(token, html`<div class="notice" role="status">
		<p><strong>${title}</strong></p>
		${Object.entries(values).map(([label, value]) => html`<p>${label}<br /><code>${value}</code></p>`)}
		<p>${note}</p>
	</div>`);
}

/** Returns and removes the notice of a session. */
export function takeNotice({ token }: Session): Html | '' {
	const notice = notices.get(token) ?? '';
	notices.delete(token);
	return notice;
}
