import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { phoneCountries } from '../fields/phones';
import type { Notations } from '../fields/notations';
import { foldedText } from '../values/foldedText';
import { parseOption } from '../values/parsers';

/** Reads the option *Values In*, and *Source Name*. @throws Error in the user's words for an unknown choice */
export function chosenNotations(n8n: IExecuteFunctions): Notations | undefined {
	const chosen = n8n.getNodeParameter('options.valuesIn.notation', 0, null) as IDataObject | null;
	const source = chosenSource(n8n);
	if (!chosen && source === undefined) return undefined;
	const stored = chosen ?? {};
	const choice = <Value extends string>(label: string, name: string, choices: readonly Value[]): Value | undefined => {
		const value = parseOption(label, stored[name], [...choices, 'api'] as const, { otherwise: 'api' });
		return value === 'api' ? undefined : value;
	};
	const country = String(stored.phoneCountry ?? '').trim().toUpperCase();
	if (country !== '' && !phoneCountries.includes(country)) {
		throw new Error(`Default Country for Phones: enter two letters such as DE instead of “${country}”. Known are ${phoneCountries.join(', ')}.`);
	}
	return {
		source,
		dates: choice('Dates Are', 'dates', ['dayMonth', 'monthDay', 'excel']),
		numbers: choice('Numbers Are', 'numbers', ['point', 'comma']),
		booleans: choice('Yes and No Are', 'booleans', ['words', 'mark']),
		separator: separators[choice('Lists Are Separated By', 'lists', ['semicolon', 'colons', 'line', 'pipe', 'comma']) ?? ''],
		errorTexts: choice('Error Texts Are', 'errorTexts', ['written']),
		countries: choice('Countries Are', 'countries', ['names']),
		phoneCountry: country === '' ? undefined : country,
		valueMap: new Map(pairsIn('Value Map', stored.valueMap, 'Subscriber → lead').map(([from, to]) => [foldedText(from), to])),
	};
}

/** The system that a file comes from. @throws Error in the user's words for a name that is not a plain word */
export function chosenSource(n8n: IExecuteFunctions): string | undefined {
	const source = String(n8n.getNodeParameter('sourceName', 0, '') ?? '').trim();
	if (source === '') return undefined;
	if (/^[\w-]{1,40}$/.test(source)) return source;
	throw new Error(`Source Name: “${source}” has other characters than letters, digits, - and _. Enter a word such as hubspot.`);
}

const separators: Record<string, string> = { comma: ',', semicolon: ';', colons: ':::', line: '\n', pipe: '|' };

/** The pairs in a text, one a line. @throws Error in the user's words for a line without an arrow */
export function pairsIn(label: string, text: unknown, example: string, mayLeaveOut = false): Array<[from: string, to: string]> {
	const lines = String(text ?? '').split('\n').map((line) => line.trim()).filter((line) => line !== '');
	return lines.map((line) => {
		const [, from, to] = /^(.+?)\s*(?:→|=>|->)\s*(.*)$/.exec(line) ?? [];
		if (from !== undefined && to !== undefined && (to !== '' || mayLeaveOut)) return [from, to];
		throw new Error(`${label}: “${line}” has no arrow. Write one pair a line, such as ${example}.`);
	});
}
