import type { z } from 'zod/v4';
import { valueAt } from './json.ts';
import { type FieldError, maxErrors, validationFailed } from './problem.ts';

type Issue = z.core.$ZodIssue;

/**
 * The errors of a body, one for each of the first invalid places.
 *
 * @param input the parsed value, to distinguish a wrong value from a missing one
 */
export function fieldErrors(error: z.ZodError, input: unknown): FieldError[] {
	return error.issues.slice(0, maxErrors).flatMap((issue) => {
		const pointer = issue.path.map((part) => `/${escapePointer(String(part))}`).join('');
		if (issue.code === 'unrecognized_keys') {
			return issue.keys.slice(0, maxErrors).map((key) => unknownField(pointer, key));
		}
		if (valueAt(input, issue.path) === undefined) {
			return [{ pointer, code: 'required', detail: `${issue.path.join('.')} is required.` }];
		}
		return [{ pointer, code: errorCode(issue), detail: explainIssue(issue) }];
	});
}

/**
 * Parses input of a client.
 *
 * @param detail says what is expected; by default the first error says what is wrong
 * @throws Problem validation_failed with the error of each invalid place
 */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown, detail?: string): T {
	const parsed = schema.safeParse(input);
	if (parsed.success) return parsed.data;
	throw validationFailed(fieldErrors(parsed.error, input), detail);
}

/** @param pointer of the object that has the unknown field */
export const unknownField = (pointer: string, name: string): FieldError => ({
	pointer: `${pointer}/${escapePointer(name)}`,
	code: 'unknown_field',
	detail: `There is no field "${name}".`,
});

/** One part of a JSON Pointer (RFC 6901, 3). */
export const escapePointer = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');

/** One of zod's issues as a sentence for people. */
export function explainIssue(issue: Issue): string {
	switch (issue.code) {
		case 'invalid_type':
			return `Expected ${typeNames[issue.expected] ?? issue.expected}.`;
		case 'invalid_value':
			return `Expected one of: ${issue.values.join(', ')}.`;
		case 'too_big':
			return `It must not be ${issue.origin === 'number' ? 'above' : 'longer than'} ${issue.maximum}.`;
		case 'too_small':
			return issue.origin === 'number' ? `It must not be below ${issue.minimum}.` : 'It must not be empty.';
		case 'invalid_format':
			return formats[issue.format] ?? issue.message;
		default:
			return issue.message;
	}
}

function errorCode(issue: Issue): string {
	switch (issue.code) {
		case 'invalid_type':
		case 'invalid_union':
			return 'invalid_type';
		case 'too_big':
			return issue.origin === 'number' ? 'too_big' : 'too_long';
		case 'too_small':
			return issue.origin === 'number' ? 'too_small' : 'too_short';
		case 'invalid_format':
			return 'invalid_format';
		default:
			return 'invalid_value';
	}
}

const typeNames: Record<string, string> = {
	string: 'text',
	number: 'a number',
	int: 'a whole number',
	boolean: 'true or false',
	array: 'a list',
	object: 'an object',
	record: 'an object',
};

const formats: Record<string, string> = {
	email: 'Expected an email address.',
	url: 'Expected a URL that begins with http:// or https://.',
	date: 'Expected a date like 2025-03-01.',
	datetime: 'Expected an instant like 2025-03-01T09:30:00.000Z.',
};
