import type { IExecuteFunctions, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { readOption } from './readers';

/**
 * The value chosen of a list, which an expression may give too.
 *
 * @param path of the parameter, where it is not at the top
 * @throws Error in the user's words where it is none of the list
 */
export function chosenOption<Value extends string>(
	n8n: IExecuteFunctions,
	item: number,
	{ displayName, name, default: unset, options = [] }: INodeProperties,
	path = name,
): Value {
	const given: unknown = n8n.getNodeParameter(path, item, unset);
	return readOption(displayName, given, (options as INodePropertyOptions[]).map(({ value }) => value as Value));
}
