import { z } from 'zod/v4';
import { choiceOr, instant, optional, text, webAddress } from './fields.ts';
import { applicationId, systemFields } from './record.ts';
import { defineResource, entersStatus, type RecordOf } from './resource.ts';

/** Why the service disabled a subscription: too long without success, or a 410 from the receiver. */
const disabledReasons = ['failures', 'gone'] as const;

const fields = {
	url: webAddress.meta({
		title: 'URL',
		description: 'Web address that events are posted to.',
		examples: ['https://n8n.example/webhook/6f1c1b8e'],
	}),
	events: z.array(z.string().min(1).max(100)).min(1).max(100).meta({
		title: 'Events',
		description: 'Types of events, or patterns: contact.* for all events of contacts, * for all events.',
		examples: [['contact.created', 'deal.*']],
	}),
	description: text({ title: 'Description', description: 'Purpose of the subscription.', examples: ['Workflow: welcome new contacts'] }),
	filter: optional(
		z.strictObject({
			ids: z.array(z.string().min(1).max(64)).min(1).max(500).meta({
				title: 'Record IDs',
				description: 'IDs of the records whose events are sent.',
			}),
		}),
		{ title: 'Filter', description: 'Restricts the webhook to events of some records.' },
	),
	expires_at: instant({
		title: 'Expires At',
		description: 'Time at which the webhook is deleted; never if absent. Change it to renew the webhook.',
	}),
	status: choiceOr('active', ['active', 'paused', 'disabled'], {
		title: 'Status',
		description: 'Whether events are sent. Set a disabled webhook to active to resume it.',
		examples: ['active'],
	}),
	disabled_reason: z.enum(disabledReasons).nullable().meta({
		title: 'Disabled Reason',
		description: 'Reason it was disabled: 5 days without success, or a response with status 410.',
		readOnly: true,
	}),
	secret_hint: z.string().meta({
		title: 'Secret Hint',
		description: 'The last characters of the secret.',
		examples: ['k9Q='],
		readOnly: true,
	}),
	application_id: applicationId,
	failing_since: instant({
		title: 'Failing Since',
		description: 'Time of the first failed delivery since the last success; null if there is none.',
		readOnly: true,
	}),
	last_success_at: instant({
		title: 'Last Success At',
		description: 'Time of the last successful delivery. Deliveries do not change the version.',
		readOnly: true,
	}),
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
		failing_since:
			previous?.status !== 'active' && webhook.status === 'active' ? null : webhook.failing_since,
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
