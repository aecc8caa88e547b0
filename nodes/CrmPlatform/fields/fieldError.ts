import { orThrow, resultOrError } from '../base/results';
import type { Field } from './field';

/** A value cannot be sent for its field. */
export class FieldError extends Error {
	/** @param problem in the user's words; the message is the field's label and the problem */
	constructor({ label }: Pick<Field, 'label'>, problem: string) {
		super(`${label}: ${problem}`);
	}
}

/** Reads a value. @returns the error if the value cannot be sent */
export function fieldErrorOr<Value>(read: () => Value): Value | FieldError {
	const result = resultOrError(read);
	return result instanceof FieldError ? result : orThrow(result);
}
