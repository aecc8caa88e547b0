import { html } from 'hono/html';
import type { Html } from '../pages/page.ts';
import type { Session } from './session.ts';

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
