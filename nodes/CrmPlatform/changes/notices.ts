/**
 * Reports a plan that changes more records than the user allows.
 *
 * @param effect what happens to the records, such as `change`
 * @param purpose what the plan is for, such as `undo them`
 * @throws Error in the user's words, except in a preview
 */
export function checkMaximum(
	count: number,
	{ maximum, label, effect, purpose, isPreview }: { maximum: number; label: string; effect: string; purpose: string; isPreview: boolean },
	notices: Set<string>,
): void {
	if (count <= maximum) return;
	const message = `${count} records would ${effect}, and ${label} allows ${maximum}. To ${purpose}, set ${label} to ${count}.`;
	if (!isPreview) throw new Error(`${message} Nothing was written.`);
	notices.add(message);
}

/** Tells the user which events the writes of a plan cause. @param ignored the choice by which triggers ignore these events */
export function announceEvents(notices: Set<string>, subject: string, events: string[], ignored: string): void {
	if (events.length === 0) return;
	notices.add(`${subject} ${events.join(', ')}. Workflows that listen to these events start, unless their triggers ignore changes made by ${ignored}.`);
}
