/** The first values, for a message; an ellipsis stands for the others. */
export const listed = (values: ReadonlyArray<string | number>, max = 10): string =>
	values.slice(0, max).join(', ') + (values.length > max ? ', …' : '');
