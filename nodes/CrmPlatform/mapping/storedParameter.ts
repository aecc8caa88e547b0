import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * A parameter as the workflow stores it, with its expressions. When n8n loads a workflow, it drops the options that the
 * chosen operation does not offer (`Workflow`, n8n 2.41), so they need no check here.
 */
export const storedParameter = (n8n: IExecuteFunctions, name: string, absent: object | string | boolean = {}): unknown =>
	n8n.getNodeParameter(name, 0, absent, { rawExpressions: true });
