import { html } from 'hono/html';
import type { RequestOrigin } from '../../core/foundation/origin.ts';
import type { Condition } from '../../core/store/records/condition.ts';
import { eventsPath } from '../pages/navigation.ts';
import type { Html } from '../pages/page.ts';

/** Selects the events whose idempotency keys begin like this. */
export const causeCondition = (cause: string): Condition => ({
	sql: `substr(json_extract(request, '$.idempotency_key'), 1, length(?)) = ?`,
	values: [cause, cause],
});

/** What the beginning of n8n's idempotency keys says: `n8n/<installation>/<workflow>/<execution>/`. */
export function causeLinks(origin: RequestOrigin | null): Html {
	const parts = /^(n8n\/[0-9a-f]{8}\/([\w-]+)\/)(?:(([\w-]+)\/))?[0-9a-f]{32,64}$/.exec(origin?.idempotency_key ?? '');
	if (!parts) return html``;
	const [, ofWorkflow = '', workflow = '', segment, execution] = parts;
	return html`in n8n:
		${link(ofWorkflow, `workflow ${workflow}`)}${execution === undefined ? '' : html`, ${link(`${ofWorkflow}${segment}`, `execution ${execution}`)}`}`;
}

const link = (cause: string, label: string): Html => html`<a href="${eventsPath}?${new URLSearchParams({ cause }).toString()}">${label}</a>`;
