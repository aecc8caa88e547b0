import { ExpressionEvaluator, IsolatedVmBridge } from '@n8n/expression-runtime';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { Expression, type IDataObject, type IExecuteFunctions, type Workflow } from 'n8n-workflow';
import { expressionSandboxHooks } from 'n8n-workflow/expression-sandboxing';

import { evaluateValues } from '../../nodes/CrmPlatform/mapping/expressions/index';
import { isPlainCode } from '../../nodes/CrmPlatform/mapping/expressions/plainCode';
import { code, everyJson, expression, waysIn } from './expression-grammar.ts';
import { itemsFor } from './expression-items.ts';
import { executeContext } from './n8n.ts';

/** The same cases every time. By hand, thousands with other seeds found nothing more. */
const runs = { numRuns: 40, seed: 20261121 };

const credential = { baseUrl: 'http://localhost', apiKey: '' };

/** The context of a node that gets these items, and how often it evaluates. */
function contextOf(items: IDataObject[]) {
	const { context } = executeContext({ credential, parameters: {}, items });
	const n8n = context as unknown as IExecuteFunctions;
	const { expression } = (context as unknown as { workflow: Workflow }).workflow;
	return { n8n, expression, evaluations: jest.spyOn(context, 'evaluateExpression') };
}

/** What Expression.initExpressionEngine() does, which imports in a way jest cannot. */
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

/** What n8n's engine gives for each on its own: a value or the words of an error. */
function oneByOne(n8n: IExecuteFunctions, expressions: string[]): unknown[] {
	return expressions.map((expression) => {
		try {
			return n8n.evaluateExpression(expression.slice(1), 0);
		} catch (error) {
			return { error: (error as Error).message };
		}
	});
}

function allTogether(n8n: IExecuteFunctions, expressions: string[]): unknown[] {
	const read = evaluateValues(n8n, expressions.map((value) => ({ label: 'Field', value })));
	try {
		return read(0);
	} catch (error) {
		return [(error as Error).message];
	}
}

/** No value is null or undefined, after the engine and the reason; to a field it is the same. */
const comparable = (values: unknown[]) => values.map((value) => value ?? null);

/** What is no JSON is shared: no expression changes it. */
function copyOf<Value>(value: Value): Value {
	if (Array.isArray(value)) return value.map(copyOf) as Value;
	if (typeof value !== 'object' || value?.constructor !== Object) return value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copyOf(one)])) as Value;
}

function expectSame(n8n: IExecuteFunctions, json: IDataObject, expressions: string[]) {
	const [item] = n8n.getInputData();
	item!.json = copyOf(json);
	const expected = comparable(oneByOne(n8n, expressions));
	const failed = expected.find((value) => typeof value === 'object' && value && 'error' in value);
	item!.json = copyOf(json);
	const given = comparable(allTogether(n8n, expressions));
	if (failed) expect(given).toEqual([`Field: ${(failed as { error: string }).error}`]);
	else expect(given).toEqual(expected);
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

	test('every way into an item leads to the same value, without the engine', () => {
		const expressions = waysIn.map((way) => `={{ ${way} }}`);
		expectSame(n8n, everyJson, expressions);
		evaluations.mockClear();
		allTogether(n8n, expressions);
		expect(evaluations).not.toHaveBeenCalled();
	});

	test('a way through a moment or a row leads to what the engine finds there', () => {
		const row = new (class {
			get total() {
				return 12;
			}
		})();
		const json = { at: DateTime.fromISO('2026-03-31T10:00:00Z', { zone: 'UTC' }), rows: [row] };
		const expressions = ['={{ $json.at.year }}', '=In {{ $json.at.month }}', '={{ $json.rows[0].total }}'];
		expectSame(n8n, json, expressions);
		expect(allTogether(n8n, expressions.slice(0, 2))).toEqual([2026, 'In 3']);
	});

	test('code that goes together has the values it has alone', () => {
		const plain = code.filter(isPlainCode).map((one) => `={{ ${one} }}`);
		const expressions = fc.array(plain, { minLength: 2, maxLength: 5 });
		const property = fc.property(itemsFor(engine), expressions, (...given) => expectSame(n8n, ...given));
		fc.assert(property, runs);
	});

	test('whatever the expressions, the values are those they have one by one', () => {
		const expressions = fc.array(expression, { minLength: 1, maxLength: 5 });
		const property = fc.property(itemsFor(engine), expressions, (...given) => expectSame(n8n, ...given));
		fc.assert(property, runs);
	});
});
