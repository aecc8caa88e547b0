/** Whether a model fills in the value. A model has to fill in every field, even one that it has no value for. */
export function isFilledByModel(value: unknown): boolean {
	return typeof value === 'string' && /\$fromAI\s*\(/i.test(value.replace(comment, ' '));
}

/** Also matches after the slashes of a URL: such a value is treated as the user's. */
const comment = /\/\*[^]*?\*\/|\/\/.*/g;
