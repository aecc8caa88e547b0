/** The states of a message, and what each may become. */
export const deliveryMoves = {
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

/** The states that a message leaves by itself. */
export const fleetingStates = ['scheduled', 'queued', 'sending', 'sent'];

/** How long a message stays in a state, in milliseconds; there is no real carrier to wait for. */
const stays: Record<string, number> = { queued: 1000, sending: 1000, sent: 3000 };

interface UnderWay {
	status: string;
	to: string[];
	scheduled_at: string | null;
}

/**
 * What becomes of a message next, and when. Messages to an address that begins with `bounce` fail,
 * so that failures can be tried out.
 *
 * @param since the instant of the last change
 */
export function nextStep(message: UnderWay, since: string) {
	const { status, to, scheduled_at: scheduledAt } = message;
	if (status === 'scheduled') return { at: scheduledAt!, change: { status: 'queued' } };
	const at = new Date(Date.parse(since) + stays[status]!).toISOString();
	if (status === 'queued') return { at, change: { status: 'sending' } };
	if (status === 'sent') return { at, change: { status: 'delivered' } };
	const refused = to.find((address) => address.startsWith('bounce'));
	if (refused === undefined) return { at, change: { status: 'sent' } };
	const error = { code: 'recipient_refused', detail: `${refused} does not take messages.` };
	return { at, change: { status: 'failed', error } };
}
