import { z } from 'zod/v4';
import { about, choiceOr, instant, optional, readOnly, text, webAddress } from './fields.ts';
import { applicationId, systemFields } from './record.ts';
import { defineResource, entersStatus, type RecordOf } from './resource.ts';

/** Why the service disabled a subscription: too long without success, or a 410 from the receiver. */
const disabledReasons = ['failures', 'gone'] as const;

const fields = {
	url: webAddress.meta(about('Web address that events are posted to.', 'https://n8n.example/webhook/6f1c1b8e')),
	events: z.array(z.string().min(1).max(100)).min(1).max(100).meta(
		about('Types of events, or patterns: contact.* for all events of contacts, * for all events.', ['contact.created', 'deal.*']),
	),
	description: text(about('Purpose of the subscription.', 'Workflow: welcome new contacts')),
	filter: optional(
		z.strictObject({
			ids: z.array(z.string().min(1).max(64)).min(1).max(500).meta(
				about('IDs of the records whose events are sent.', ['con_01hz3cqq00zvx2m4h6k8r9t1w3'], { title: 'Record IDs' }),
			),
		}),
		about('Restricts the webhook to events of some records.'),
	),
	expires_at: instant(about('Time at which the webhook is deleted; never if absent. Change it to renew the webhook.')),
	status: choiceOr(
		'active', ['active', 'paused', 'disabled'],
		about('Whether events are sent. Set a disabled webhook to active to resume it.', 'active'),
	),
	disabled_reason: z.enum(disabledReasons).nullable().meta(
		readOnly('Reason it was disabled: 5 days without success, or a response with status 410.'),
	),
	secret_hint: z.string().meta(readOnly('The last characters of the secret.', 'k9Q=')),
	application_id: applicationId,
	failing_since: instant(readOnly('Time of the first failed delivery since the last success; null if there is none.')),
	last_success_at: instant(readOnly('Time of the last successful delivery. Deliveries do not change the version.')),
	...systemFields('webhook'),
};

export const webhooks = defineResource({
	name: 'webhooks',
	object: 'webhook',
	idPrefix: 'whk',
	description: 'Subscriptions to events, which are posted to a URL.',
	visibility: 'application',
	fields,
	important: ['url', 'events', 'description', 'status'],
	unique: {},
	sortable: ['last_success_at'],
	searched: ['url', 'description'],
	lookups: ['status', 'url', 'expires_at'],
	unversioned: ['failing_since', 'last_success_at'],

	events: {
		disabled: entersStatus('disabled', 'A webhook was disabled by the service.'),
		test: { description: 'A test event that you requested. It is sent to one webhook only.' },
	},

	complete: (webhook, previous) => ({
		disabled_reason: webhook.status === 'disabled' ? webhook.disabled_reason : null,
		// Reactivating a subscription clears its failures.
		failing_since: previous?.status !== 'active' && webhook.status === 'active' ? null : webhook.failing_since,
	}),

	check(webhook, previous, { at }) {
		const refuse = (pointer: string, detail: string) => [{ pointer, code: 'invalid_value', detail }];
		if (webhook.status === 'disabled' && !webhook.disabled_reason) {
			return refuse('/status', 'Only the service disables a subscription. You can pause it.');
		}
		const { expires_at: end } = webhook;
		const isPast = end !== null && end !== previous?.expires_at && end <= at;
		return isPast ? refuse('/expires_at', 'Expected a time in the future.') : [];
	},
});

export type Webhook = RecordOf<typeof fields>;
