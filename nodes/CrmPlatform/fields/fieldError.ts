import type { Field } from './field';

/** A value cannot be sent for its field. */
export class FieldError extends Error {
	/** Name of the field. */
	readonly field: string;

	/** @param problem in the user's words; the message is the field's label and the problem */
	constructor({ name, label }: Pick<Field, 'name' | 'label'>, problem: string) {
		super(`${label}: ${problem}`);
		this.field = name;
	}
}
