import { ExpressionEvaluator, IsolatedVmBridge } from '@n8n/expression-runtime';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { Expression, type IDataObject, type IExecuteFunctions, type NodeOperationError, type Workflow } from 'n8n-workflow';
import { expressionSandboxHooks } from 'n8n-workflow/expression-sandboxing';

import { Evaluation } from '../../nodes/CrmPlatform/mapping/expressions/evaluation';
import { readsOnlyJson } from '../../nodes/CrmPlatform/mapping/expressions/plainCode';
import { randomRuns } from '../support/random-runs.ts';
import { code, everyJson, expression, waysIn } from '../support/expression-grammar.ts';
import { itemsFor } from '../support/expression-items.ts';
import { executeContext } from '../support/node-runs.ts';

/** The cases are the same every time. Thousands with other seeds, run by hand, found nothing more. */
const runs = randomRuns(40, 20261121);

const credential = { baseUrl: 'http://localhost', apiKey: '' };

/** The context of a node that gets these items, and how often it evaluates. */
function contextOf(items: IDataObject[]) {
	const { context } = executeContext({ credential, parameters: {}, items });
	const n8n = context as unknown as IExecuteFunctions;
	const { expression } = (context as unknown as { workflow: Workflow }).workflow;
	return { n8n, expression, evaluations: jest.spyOn(context, 'evaluateExpression') };
}

/** Does what Expression.initExpressionEngine() does, whose kind of import jest does not support. */
async function startVmEngine(): Promise<void> {
	const evaluator = new ExpressionEvaluator({
		createBridge: () => new IsolatedVmBridge({ timeout: 5_000, memoryLimit: 128 }),
		maxCodeCacheSize: 1024,
		hooks: expressionSandboxHooks,
	});
	await evaluator.initialize();
	Object.assign(Expression, { vmEvaluator: evaluator });
	Expression.setExpressionEngine('vm');
}

/** The result of n8n's engine for each expression alone: a value or the message of an error. */
function oneByOne(n8n: IExecuteFunctions, expressions: string[], item: number): unknown[] {
	return expressions.map((expression) => {
		try {
			return n8n.evaluateExpression(expression.slice(1), item);
		} catch (error) {
			return { error: (error as Error).message };
		}
	});
}

/** The values of each item, or the message of its error and the item that the error names. */
function allTogether(n8n: IExecuteFunctions, expressions: string[]): unknown[][] {
	const evaluation = new Evaluation(n8n, expressions.map((value) => ({ label: 'Field', value })));
	return n8n.getInputData().map((_, item) => {
		try {
			return evaluation.valuesOf(item);
		} catch (error) {
			const { message, context } = error as NodeOperationError;
			return [message, context.itemIndex];
		}
	});
}

/** A missing value is null or undefined, depending on the engine; a field treats both the same. */
const comparable = (values: unknown[]) => values.map((value) => value ?? null);

/** Copies JSON. Other values are shared, since no expression changes them. */
function copyOf<Value>(value: Value): Value {
	if (Array.isArray(value)) return value.map(copyOf) as Value;
	if (typeof value !== 'object' || value?.constructor !== Object) return value;
	return Object.fromEntries(Object.entries(value).map(([key, memberValue]) => [key, copyOf(memberValue)])) as Value;
}

function expectSame(n8n: IExecuteFunctions, jsons: IDataObject[], expressions: string[]) {
	const items = n8n.getInputData();
	const fill = () => items.splice(0, items.length, ...jsons.map((json) => ({ json: copyOf(json) })));
	fill();
	const expected = jsons.map((_, item) => {
		const values = comparable(oneByOne(n8n, expressions, item));
		const failed = values.find((value) => typeof value === 'object' && value && 'error' in value);
		return failed ? [`Field: ${(failed as { error: string }).error}`, item] : values;
	});
	fill();
	expect(allTogether(n8n, expressions).map(comparable)).toEqual(expected);
	expect(items).toHaveLength(jsons.length);
}

/** The engine `vm`, and the choice of an engine, are not in every n8n that is supported. */
const engines = 'setExpressionEngine' in Expression ? (['legacy', 'vm'] as const) : (['legacy'] as const);

describe.each(engines)('with n8n’s engine %s,', (engine) => {
	const { n8n, evaluations, expression: engineOfNode } = contextOf([{}]);
	beforeAll(async () => {
		if (engine === 'vm') await startVmEngine();
		if (engines.length > 1) await engineOfNode.acquireIsolate();
	});
	afterAll(async () => {
		if (engines.length === 1) return;
		await engineOfNode.releaseIsolate();
		await Expression.disposeExpressionEngine();
		Expression.setExpressionEngine('legacy');
	});

	test('every path into an item leads to the same value, without the engine', () => {
		const expressions = waysIn.map((way) => `={{ ${way} }}`);
		expectSame(n8n, [everyJson], expressions);
		evaluations.mockClear();
		allTogether(n8n, expressions);
		expect(evaluations).not.toHaveBeenCalled();
	});

	test('a path through a moment or a row leads to what the engine finds there', () => {
		const row = new (class {
			get total() {
				return 12;
			}
		})();
		const json = { at: DateTime.fromISO('2026-03-31T10:00:00Z', { zone: 'UTC' }), rows: [row] };
		const expressions = ['={{ $json.at.year }}', '=In {{ $json.at.month }}', '={{ $json.rows[0].total }}'];
		expectSame(n8n, [json], expressions);
		expect(allTogether(n8n, expressions.slice(0, 2))).toEqual([[2026, 'In 3']]);
	});

	test('code that reads only the data of its item has the same values for many items at once', () => {
		const plain = code.filter(readsOnlyJson).map((snippet) => `={{ ${snippet} }}`);
		const expressions = fc.array(plain, { minLength: 1, maxLength: 5 });
		const property = fc.property(itemsFor(engine), expressions, (...samples) => expectSame(n8n, ...samples));
		fc.assert(property, runs);
	});

	test('a change that an expression makes is visible only to the fields after it', () => {
		const writers = [
			'$json.n = 5', '$json.n++', '$json.list.push(4)', '$json.list["pu" + "sh"](4)', 'delete $json.n', '$json.list.sort()',
			'Object.assign($json, { n: 7 })', '(() => { $json.deep.n = 9; return 1 })()', '[$json.n] = [3]', '$json.n ??= 2',
			'$json.n <<= 2', '[].push.call($json.list, 8)', '$json.list.splice(0, 1)',
		];
		const readers = ['$json.n', '$json.list', '$json.list.length', '$json.deep.n', '$json.n + 1', '$json.list.join()'];
		const item = { n: 1, list: [3, 1, 2], deep: { n: 1 } };
		const codeArbitrary = fc.array(fc.constantFrom(...writers, ...readers, ...readers), { minLength: 2, maxLength: 6 });
		const property = fc.property(fc.array(fc.constant(item), { minLength: 1, maxLength: 3 }), codeArbitrary, (jsons, codes) => {
			expectSame(n8n, jsons, codes.map((snippet) => `={{ ${snippet} }}`));
		});
		fc.assert(property, randomRuns(200, 20261121));
	});

	const namesIn = (jsons: object[]) => {
		n8n.getInputData().splice(0, Infinity, ...jsons.map((json) => ({ json: json as IDataObject })));
		evaluations.mockClear();
		return allTogether(n8n, ['={{ $json.name.trim() }}']).flat();
	};

	test('many items cost a few evaluations', () => {
		const names = Array.from({ length: 250 }, (_, item) => `Name ${item}`);
		expect(namesIn(names.map((name) => ({ name: ` ${name}` })))).toEqual(names);
		expect(evaluations).toHaveBeenCalledTimes(3);
	});

	test('items with a lot of text are not evaluated together', () => {
		const text = 'x'.repeat(200_000);
		expect(namesIn([{ name: ' a', text }, { name: ' b', text }, { name: ' c', text }])).toEqual(['a', 'b', 'c']);
		expect(evaluations).toHaveBeenCalledTimes(3);
	});

	test('an item that contains itself is evaluated like any other', () => {
		const endless: IDataObject = { name: ' a' };
		endless['itself'] = endless;
		expect(namesIn([{ name: ' b' }, endless, { name: ' c' }])).toEqual(['b', 'a', 'c']);
	});

	test('whatever the expressions, the values equal those evaluated one by one', () => {
		const expressions = fc.array(expression, { minLength: 1, maxLength: 5 });
		const property = fc.property(itemsFor(engine), expressions, (...samples) => expectSame(n8n, ...samples));
		fc.assert(property, runs);
	});
});
