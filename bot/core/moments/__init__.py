"""Moments that people name: what they wish ("ask me tomorrow at 9"), in which zone, and when it is quiet (CH-6).

Everything here is values in, values out. The words are data (`config/times/`), zones are handed in, and the present
moment comes with the envelope.
"""
