/** Name, color, description. */
const labels = [
	['Newsletter', '#2f80ed', 'Gets the monthly newsletter.'],
	['Key Account', '#eb5757', 'Is looked after by a manager of their own.'],
	['Partner', '#27ae60', 'Sells together with us.'],
	['Trade Fair 2024', '#9b51e0', 'Met at the trade fair in 2024.'],
	['Reference', '#f2994a', 'Agreed to be named as a reference.'],
	['Do Not Call', '#828282', 'Wants to be written to only.'],
] as const;

export const tagCount = labels.length;

export function tagSeed(i: number): Record<string, unknown> {
	const [name, color, description] = labels[i]!;
	return { name, color, description, usage: 0 };
}
