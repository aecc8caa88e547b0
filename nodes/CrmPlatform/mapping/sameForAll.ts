import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Collection } from '../api/http/path';
import { scalarsIn } from '../base/json';
import type { ReadingRun } from '../model';
import { Evaluation } from './expressions/evaluation';
import { collectionPath } from './locator';

/** The names in expressions that have the same value for each item. */
const constantNames = /\$(now|today|vars|env|secrets|workflow|execution|max|min|if|ifEmpty)\b/g;

/** Whether any parameter may differ between items. An expression that the node does not understand counts as such. */
export function dependsOnItem(parameters: unknown): boolean {
	if (typeof parameters === 'object' && parameters !== null) return Object.values(parameters).some(dependsOnItem);
	if (typeof parameters !== 'string' || !parameters.startsWith('=')) return false;
	return /\$|\bitem|random/i.test(parameters.replace(constantNames, ''));
}

/**
 * Refuses settings that apply to the whole run, but whose expressions differ between items.
 *
 * @param settings parameters of the node, or options
 * @throws Error in the user's words
 */
export function refuseDiffering(n8n: IExecuteFunctions, settings: INodeProperties[]): void {
	const { options, ...others } = n8n.getNode().parameters;
	const parameters = { ...(options as IDataObject | undefined), ...others };
	const expressions = settings.flatMap(({ displayName, name }) => {
		const label = displayName.replace(/ Name or ID$/, '');
		return scalarsIn(parameters[name]).filter(dependsOnItem).map((value) => ({ label, value: value as string }));
	});
	if (expressions.length === 0) return;
	const evaluation = new Evaluation(n8n, expressions);
	const textsOf = (item: number) => evaluation.valuesOf(item).map((value) => JSON.stringify(value) ?? '');
	const first = textsOf(0);
	for (const item of n8n.getInputData().keys()) {
		const other = textsOf(item).findIndex((text, i) => text !== first[i]);
		if (other === -1) continue;
		throw new Error(`${expressions[other]!.label}: the expression returns ${formatValue(first[other])} for item 0, but ${formatValue(textsOf(item)[other])} for item ${item}. This setting applies to the whole run, so nothing was written. Use the same value for all items, or run the node once for each value.`);
	}
}

const formatValue = (text = ''): string => (text === '' ? 'nothing' : text.slice(0, 100));

/**
 * The path of the collection of all items, where its custom fields decide what they mean.
 *
 * @throws Error in the user's words if items belong to several
 */
export function commonCollection(run: ReadingRun): Collection {
	refuseDiffering(run.n8n, run.resource.parents ?? []);
	return collectionPath(run, 0);
}
