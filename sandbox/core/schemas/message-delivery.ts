/** The transitions that each state of a message allows. */
export const deliveryTransitions = {
	scheduled: ['queued', 'canceled'],
	queued: ['sending', 'failed', 'canceled'],
	sending: ['sent', 'failed'],
	sent: ['delivered', 'failed'],
	delivered: ['read'],
	received: ['read'],
	read: [],
	failed: [],
	canceled: [],
};

/** The states that a message leaves automatically. */
export const transientStates = ['scheduled', 'queued', 'sending', 'sent'];

/** How long a message stays in a state, in milliseconds, because the sandbox has no real carrier. */
const stayMs: Record<string, number> = { queued: 1000, sending: 1000, sent: 3000 };

interface MessageInTransit {
	status: string;
	to: string[];
	scheduled_at: string | null;
}

/**
 * The next timed transition of a message. Messages to an address that begins with `bounce` fail, so
 * that users can try out failures.
 *
 * @param since the instant of the last change
 */
export function nextTransition(message: MessageInTransit, since: string) {
	const { status, to, scheduled_at: scheduledAt } = message;
	if (status === 'scheduled') return { at: scheduledAt!, change: { status: 'queued' } };
	const at = new Date(Date.parse(since) + stayMs[status]!).toISOString();
	if (status === 'queued') return { at, change: { status: 'sending' } };
	if (status === 'sent') return { at, change: { status: 'delivered' } };
	const refusedAddress = to.find((address) => address.startsWith('bounce'));
	if (refusedAddress === undefined) return { at, change: { status: 'sent' } };
	const error = { code: 'recipient_refused', detail: `${refusedAddress} does not accept messages.` };
	return { at, change: { status: 'failed', error } };
}
