/** What the user is told of a value that was given for a field nobody knows. */
export function notTaken(name: string): string {
	return `The service does not take the field ${name} (any more), so it was not sent. Open the node and refresh its fields.`;
}
