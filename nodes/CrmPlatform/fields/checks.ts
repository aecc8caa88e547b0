import { isObject } from '../base/json';
import { ownMember } from '../base/ownMembers';
import { isBlank } from '../values/blank';
import { oneOf, elementKind, fieldKinds, valueShape } from './fieldKinds';
import { type Field, matchesPattern } from './field';

/**
 * Why the service would refuse a value, as far as its description says.
 *
 * @param value as it would be sent
 * @returns a sentence that begins with the field's label; undefined if the value is acceptable
 */
export function whyRefused(field: Field, value: unknown): string | undefined {
	const problem = valueProblem(field, value);
	return problem === undefined ? undefined : `${field.label}: ${problem}`;
}

/** The same sentence without the label, which a FieldError adds. */
export function valueProblem(field: Field, value: unknown): string | undefined {
	const shape = valueShape(field);
	if (isBlank(value) || shape === 'open') return undefined;
	if (shape === 'object') return Array.isArray(value) ? memberProblem(field, value) : undefined;
	const values: unknown[] = shape === 'list' && Array.isArray(value) ? value : [value];
	const { maxLength = Infinity } = field;
	for (const element of values) {
		const expectation = expectationOf(field, element);
		if (expectation !== undefined) return `“${String(element).slice(0, maxQuoted)}” is not ${expectation}.`;
	}
	const tooLong = values.map((element) => (typeof element === 'string' ? [...element].length : 0)).find((length) => length > maxLength);
	return tooLong === undefined ? undefined : `the text is too long. It has ${tooLong} characters, and the maximum is ${maxLength}.`;
}

function memberProblem({ members = [] }: Field, objects: unknown[]): string | undefined {
	const checked = objects
		.filter((object) => isObject(object))
		.flatMap((object) => members.map((member) => [member, ownMember(object, member.name)] as const));
	const empty = checked.find(([{ required }, value]) => required && isBlank(value));
	if (empty) return `${empty[0].label} is empty in one of the entries. Enter a value, or remove the entry.`;
	return checked.map(([member, value]) => valueProblem(member, value)).find((problem) => problem !== undefined);
}

/** Maximum characters of a wrong value in the sentence. */
const maxQuoted = 100;

/** What the description expects instead of the value; undefined if the value conforms. */
function expectationOf(field: Field, value: unknown): string | undefined {
	const { choices, isOpen, format = '' } = field;
	const kind = elementKind(field);
	if (choices && !isOpen) return choices.some((choice) => choice.value === value) ? undefined : oneOf(choices);
	const requirement = kind && fieldKinds[kind].onlyValid;
	if (requirement) return requirement.isValid(value) ? undefined : requirement.description;
	if (typeof value !== 'string') return undefined;
	if (matchesPattern(field, value) === false) return `in the format that the CRM accepts${descriptionOf(field)}`;
	const rule = ownMember(formats, format);
	return rule && !rule.isValid(value) ? rule.description : undefined;
}

const descriptionOf = ({ description }: Field): string => (description === '' ? '' : ` (${description.replace(/\.$/, '')})`);

const formats: Record<string, { isValid(value: string): boolean; description: string }> = {
	// A quoted name may contain any character (RFC 5321, section 4.1.2).
	email: { isValid: (value) => /^("[^"]*"|[^\s@"]+)@[^\s@]+$/.test(value), description: 'an email address' },
	uri: { isValid: (value) => URL.canParse(value), description: 'a web address such as https://example.com' },
	hostname: { isValid: (value) => /^[^\s/@:.]+(\.[^\s/@:.]+)*$/.test(value), description: 'a domain such as example.com' },
};
