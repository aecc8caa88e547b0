/** @returns a negative number if the first instant (RFC 3339) is earlier, zero if both are the same, and NaN if one is invalid */
export function compareInstants(first: string, second: string): number {
	// If either has no fractions of a second, these are ignored.
	const precision = [first, second].every((instant) => /\.\d/.test(instant)) ? 1 : 1000;
	return Math.floor(Date.parse(first) / precision) - Math.floor(Date.parse(second) / precision);
}
