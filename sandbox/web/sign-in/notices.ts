import { html } from 'hono/html';
import type { Html } from '../pages/page.ts';
import type { Session } from './session.ts';

const lastsMs = 60_000;

/**
 * Notices that a page shows once, after the redirect that follows a form, so that reloading the page does not
 * send the form again. They may contain secrets, so they are kept only in memory, one per session, for a minute.
 */
export class Notices {
	private readonly now: () => number;
	/** The notices by session token; the oldest one is first. */
	private readonly notices = new Map<string, { notice: Html; endsAt: number }>();

	/** @param now in milliseconds since 1970 */
	constructor(now: () => number) {
		this.now = now;
	}

	put({ token }: Session, notice: Html): void {
		this.forget();
		this.notices.delete(token);
		this.notices.set(token, { notice, endsAt: this.now() + lastsMs });
	}

	/** Returns and removes the notice of a session. */
	take({ token }: Session): Html | undefined {
		this.forget();
		const notice = this.notices.get(token)?.notice;
		this.notices.delete(token);
		return notice;
	}

	private forget(): void {
		for (const [token, { endsAt }] of this.notices) {
			if (this.now() < endsAt) return;
			this.notices.delete(token);
		}
	}
}

/** The notice about a new key, client or webhook, with its secret, which is never shown again. */
export const creationNotice = (title: string, values: Record<string, string>, note: string): Html =>
	html`<div class="notice" role="status">
		<p><strong>${title}</strong></p>
		${Object.entries(values).map(
			([label, value]) => html`<p>${label}<br />
				<code>${value}</code>
				<button type="button" class="copy" aria-label="Copy ${label}" hidden>Copy</button>
			</p>`,
		)}
		<p>${note}</p>
	</div>`;

/**
 * Shows the buttons that copy the value before them. They stay hidden without a script, and where the browser
 * denies access to the clipboard, as over HTTP with a host other than localhost.
 */
export const copyScript = `
for (const button of navigator.clipboard ? document.querySelectorAll('button.copy') : []) {
	button.hidden = false;
	button.addEventListener('click', async () => {
		await navigator.clipboard.writeText(button.previousElementSibling.textContent);
		button.textContent = 'Copied';
	});
}
`;
