import type { IExecuteFunctions } from 'n8n-workflow';

// The only place where a context of n8n stands for another one. n8n's helpers and the readers of parameters take a whole
// context, and here a few of its members differ. All others remain those of the original, whatever it sets later: a spread
// would lose the methods, getters and private state of n8n's contexts, which are instances of classes.

type Members = Partial<IExecuteFunctions>;

const withMembers = <Context extends object>(n8n: object, members: Members): Context =>
	Object.create(n8n, Object.getOwnPropertyDescriptors(members)) as Context;

/**
 * The context with a request's signal as its cancel signal: n8n replaces the `abortSignal` of a signed request by the
 * signal of the execution (n8n-core 2.41, request-helper-functions).
 */
export const abortedBy = <Context extends object>(n8n: Context, signal: AbortSignal): Context =>
	withMembers(n8n, { getExecutionCancelSignal: () => signal });

/** An execution with one empty item, whose parameters come from elsewhere: from a model, or from a trigger's form. */
export const executionOfOne = (
	n8n: object,
	parameter: (name: string, item: number, otherwise?: unknown, options?: object) => unknown,
	members: Pick<Members, 'isToolExecution' | 'evaluateExpression'>,
): IExecuteFunctions =>
	withMembers(n8n, { getNodeParameter: parameter as IExecuteFunctions['getNodeParameter'], getInputData: () => [{ json: {} }], ...members });
