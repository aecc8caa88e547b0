import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { scalarsIn } from '../base/json';
import { Evaluation } from '../mapping/expressions/evaluation';
import { dependsOnItem } from '../schedule';

/**
 * Refuses settings whose expressions differ between items: a sync has one value of each for all items.
 *
 * @throws Error in the user's words
 */
export function refuseDiffering(n8n: IExecuteFunctions, settings: INodeProperties[]): void {
	const { parameters } = n8n.getNode();
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
		throw new Error(
			`${expressions[other]!.label}: the expression returns ${formatValue(first[other])} for item 0, but ${formatValue(textsOf(item)[other])} for item ${item}. This setting applies to the whole run, so nothing was written. Use the same value for all items, or sync them in several runs.`,
		);
	}
}

const formatValue = (text = ''): string => (text === '' ? 'nothing' : text.slice(0, 100));
