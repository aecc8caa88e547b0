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

/** Several values of an item cannot be sent. The first one stands for them. */
export class FieldErrors extends FieldError {
	readonly errors: FieldError[];

	constructor(errors: [FieldError, ...FieldError[]]) {
		super({ name: errors[0].field, label: '' }, '');
		this.message = errors.map(({ message }) => message).join('\n');
		this.errors = errors;
	}
}

/** Reads a value. @returns the error if the value cannot be sent */
export function fieldErrorOr<Value>(read: () => Value): Value | FieldError {
	try {
		return read();
	} catch (error) {
		if (error instanceof FieldError) return error;
		throw passedOn(error);
	}
}

const passedOn = (error: unknown): Error => error as Error;
