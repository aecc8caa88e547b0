import { createHmac } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Env, Service } from '../service.ts';
import type { Member } from '../store/members.ts';
import { isSame } from '../store/secrets.ts';

const cookie = 'crm_session';

/** Somebody signed in, in this browser. */
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

/** Always with a new token, so that nobody can prepare one for somebody else. */
export function openSession({ store, now }: Service, c: Context<Env>, userId: string): void {
	setCookie(c, cookie, store.sessions.open(userId, now()), {
		httpOnly: true,
		// Lax, because an application sends its users here from elsewhere.
		sameSite: 'Lax',
		secure: new URL(c.req.url).protocol === 'https:',
		path: '/',
	});
}

export function closeSession({ store }: Service, c: Context<Env>, { token }: Session): void {
	store.sessions.close(token);
	deleteCookie(c, cookie, { path: '/' });
}

/** What a form of the signed-in user carries, and a forged one cannot. */
export const csrfToken = ({ token }: Session): string =>
	createHmac('sha256', token).update('csrf').digest('base64url');

export const hasCsrfToken = (session: Session, form: URLSearchParams): boolean =>
	isSame(form.get('csrf') ?? '', csrfToken(session));
