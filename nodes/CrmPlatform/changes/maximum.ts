/**
 * Reports a plan that changes more records than the user allows.
 *
 * @param effect such as `change`; `purpose`, such as `undo them`
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
