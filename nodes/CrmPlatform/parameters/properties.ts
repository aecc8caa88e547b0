import { isExpression, type IExecuteFunctions, type INodeProperties, type INodePropertyOptions } from 'n8n-workflow';

import { storedParameter } from '../mapping/locator';
import { parseOption, parseText } from '../values/parsers';

type More = Partial<Omit<INodeProperties, 'displayName' | 'name' | 'type' | 'default'>>;

function property(type: INodeProperties['type'], displayName: string, name: string, value: INodeProperties['default'], more: More) {
	return { displayName, name, type, default: value, ...more } satisfies INodeProperties;
}

type LabeledValue = [label: string, value: string, description?: string];

const optionsIn = (options: LabeledValue[], more: More): More => ({
	noDataExpression: true,
	options: options.map(([name, value, description]) => ({ name, value, ...(description !== undefined && { description }) })),
	...more,
});

export const choiceProperty = (label: string, name: string, value: string, options: LabeledValue[], more: More = {}): INodeProperties =>
	property('options', label, name, value, optionsIn(options, more));

export const choicesProperty = (label: string, name: string, value: string[], options: LabeledValue[], more: More = {}): INodeProperties =>
	property('multiOptions', label, name, value, optionsIn(options, more));

export const booleanProperty = (displayName: string, name: string, value: boolean, description: string, more: More = {}): INodeProperties =>
	property('boolean', displayName, name, value, { description, ...more });

export const textProperty = (displayName: string, name: string, more: More & { default?: string } = {}): INodeProperties =>
	property('string', displayName, name, '', more);

export const dateProperty = (displayName: string, name: string, more: More = {}): INodeProperties =>
	property('dateTime', displayName, name, '', more);

export const jsonProperty = (displayName: string, name: string, more: More = {}): INodeProperties =>
	property('json', displayName, name, '{}', more);

/** @param text may contain HTML */
export const noticeProperty = (text: string, name: string, more: More): INodeProperties => property('notice', text, name, '', more);

export const numberProperty = (displayName: string, name: string, value: number, more: More = {}): INodeProperties =>
	property('number', displayName, name, value, more);

export const rowsProperty = (
	{ displayName, name, ...more }: Pick<INodeProperties, 'displayName' | 'name'> & More,
	row: { displayName: string; name: string; values: INodeProperties[] },
): INodeProperties => property('fixedCollection', displayName, name, {}, { typeOptions: { multipleValues: true }, ...more, options: [row] });

export const optionsCollection = (options: INodeProperties[]): INodeProperties =>
	property('collection', 'Options', 'options', {}, { placeholder: 'Add option', options });

/** A choice from a list of the service, or several if the name says IDs, with the text that n8n's verification demands. */
export function listedChoice(
	{ displayName, name, description, ...others }: Pick<INodeProperties, 'displayName' | 'name'> & Partial<INodeProperties>,
	loadOptionsMethod: string,
	loadOptionsDependsOn?: string[],
): INodeProperties {
	const isSeveral = displayName.endsWith('IDs');
	const link = '<a href="https://docs.n8n.io/code/expressions/">expression</a>';
	const text = `Choose from the list, or specify ${isSeveral ? 'IDs' : 'an ID'} using an ${link}`;
	return {
		displayName,
		name,
		type: isSeveral ? 'multiOptions' : 'options',
		typeOptions: { loadOptionsMethod, ...(loadOptionsDependsOn && { loadOptionsDependsOn }) },
		default: isSeveral ? [] : '',
		...others,
		description: description === undefined ? text : `${description} ${text}.`,
	};
}

/**
 * The value chosen from a list, or returned by an expression.
 *
 * @param path the path of the parameter, if it is in a collection
 * @throws Error in the user's words if the value is not in the list
 */
export function chosenOption<Value extends string>(
	n8n: IExecuteFunctions, item: number, { displayName, name, default: unset, options = [] }: INodeProperties, path = name,
): Value {
	const value: unknown = n8n.getNodeParameter(path, item, unset);
	return parseOption(displayName, value, (options as INodePropertyOptions[]).map(({ value }) => value as Value));
}

/**
 * The text of a parameter; empty if the user left it empty.
 *
 * @throws Error in the user's words if an expression returns no text, which would disable the parameter
 */
export function parameterText(n8n: IExecuteFunctions, { displayName, name }: INodeProperties): string {
	const stored = storedParameter(n8n, name, '');
	const isSet = isExpression(stored) && stored.slice(1).trim() !== '';
	return parseText(displayName, n8n.getNodeParameter(name, 0, ''), isSet ? {} : { otherwise: '' });
}
