import { NodeApiError, type INode } from 'n8n-workflow';

/** The error of a request that the CRM has refused with this status. */
export const httpError = (httpCode: string): NodeApiError =>
	new NodeApiError({ name: 'CRM' } as INode, {}, { httpCode, message: `The CRM answers ${httpCode}` });
