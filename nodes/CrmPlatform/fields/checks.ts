import { isBlank } from './blank';
import { matchesPattern } from './conversions';
import type { Field } from './field';

/**
 * Why the service would refuse a value, as far as its description says.
 *
 * @param value as it would be sent
 * @returns a sentence that begins with the field's label; undefined where nothing speaks against the value
 */
export function whyRefused(field: Field, value: unknown): string | undefined {
	if (isBlank(value) || field.kind === 'json' || field.kind === 'any') return undefined;
	const values: unknown[] = field.kind === 'list' && Array.isArray(value) ? value : [value];
	const wrong = values.map((one) => [one, expected(field, one)] as const).find(([, words]) => words !== undefined);
	return wrong && `${field.label}: ‘${String(wrong[0])}’ is not ${wrong[1]}.`;
}

const maxNamed = 10;

/** What a value should be that is not as the description has it. */
function expected(field: Field, value: unknown): string | undefined {
	const { choices, isOpen, format = '', maxLength = Infinity } = field;
	const kind = field.kind === 'list' ? field.items : field.kind;
	if (choices && !isOpen) {
		if (choices.some((choice) => choice.value === value)) return undefined;
		const named = choices.slice(0, maxNamed).map(({ label }) => label).join(', ');
		return `one of: ${named}${choices.length > maxNamed ? ', …' : ''}`;
	}
	if (kind === 'number') return typeof value === 'number' ? undefined : 'a number such as 12.5';
	if (kind === 'boolean') return typeof value === 'boolean' ? undefined : 'true or false';
	if (typeof value !== 'string') return undefined;
	if (matchesPattern(field, value) === false) return `in the form that the service takes${descriptionOf(field)}`;
	if (!(formats[format]?.fits(value) ?? true)) return formats[format]!.words;
	return [...value].length > maxLength ? `short enough: it has ${[...value].length} characters, and may have ${maxLength}` : undefined;
}

const descriptionOf = ({ description }: Field): string => (description === '' ? '' : ` (${description.replace(/\.$/, '')})`);

/** A quoted name may have anything in it (RFC 5321, section 4.1.2). */
const address = { fits: (value: string) => /^("[^"]*"|[^\s@"]+)@[^\s@]+$/.test(value), words: 'an email address' };
const link = { fits: (value: string) => URL.canParse(value), words: 'a web address such as https://example.com' };

const formats: Record<string, { fits(value: string): boolean; words: string } | undefined> = {
	email: address,
	'idn-email': address,
	uri: link,
	url: link,
	iri: link,
};
