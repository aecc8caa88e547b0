/** Of what n8n stores of a picker, the id; an expression may stand for the id, or for all of it. */
export function locatorValue(picked: unknown): unknown {
	if (typeof picked !== 'object' || picked === null) return picked;
	return 'value' in picked ? picked.value : undefined;
}
